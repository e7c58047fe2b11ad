-module(shop).
-export([main/1, price/2, label/1, order/2]).
price(Item, {Map, _List, base}) -> maps:get(Item, Map);
price(Item, {_Map, List, new}) -> {_, P} = lists:keyfind(Item, 1, List), P.
label(N) -> lists:flatten(io_lib:format("item ~w of ~w", [N, N * 7])).
order(N, Prices) ->
    Items = [(N * 37 + I * 11) rem 400 || I <- lists:seq(1, 60)],
    Total = lists:sum([price(I, Prices) || I <- Items]),
    {Total, [label(I) || I <- lists:sublist(Items, 6)]}.
loop(N, Prices, End) ->
    order(N, Prices),
    case erlang:monotonic_time(millisecond) < End of
        true -> loop(N + 1, Prices, End);
        false -> N
    end.
main([Kind]) ->
    List = [{I, I * 17 rem 100} || I <- lists:seq(0, 399)],
    Prices = {maps:from_list(List), List, list_to_atom(atom_to_list(Kind))},
    End = erlang:monotonic_time(millisecond) + 7000,
    io:format("~w~n", [loop(0, Prices, End)]), halt().
