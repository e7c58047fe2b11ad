// Whether rows are cards: the width at which the style sheet makes them so.

const NARROW = matchMedia("(max-width: 600px)").matches;
