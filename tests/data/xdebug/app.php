<?php
$SLOW = getenv('SLOW') === '1';
class TemplateCache {
    private array $c = [];
    public function __construct(private bool $slow) {}
    public function get(string $name, string $src, int $no): array {
        $key = $this->slow ? $name . ':' . $no : $name;
        if (!isset($this->c[$key])) { $this->c[$key] = parse_template($src); if (count($this->c) > 50) array_shift($this->c); }
        return $this->c[$key];
    }
}
function tokenize_template(string $src): array { return preg_split('/(\{\{.*?\}\})/', $src, -1, PREG_SPLIT_DELIM_CAPTURE); }
function compile_node(string $tok): array {
    if (str_starts_with($tok, '{{')) { $parts = explode('|', trim($tok, '{} ')); return ['var', $parts[0], $parts[1] ?? null]; }
    return ['text', $tok, null];
}
function parse_template(string $src): array { $out = []; foreach (tokenize_template($src) as $t) { $out[] = compile_node($t); } return $out; }
class Customers {
    private array $rows = [];
    public function __construct(int $n) { mt_srand(3); for ($i = 0; $i < $n; $i++) $this->rows[$i] = ['id' => $i, 'name' => "Customer $i", 'region' => ['eu','us','uk'][mt_rand(0, 2)], 'level' => mt_rand(0, 3)]; }
    public function find(int $id): array { return $this->rows[$id % count($this->rows)]; }
}
class Invoice {
    public array $lines = [];
    public function __construct(public int $no, public array $customer) {}
    public function add(string $sku, int $qty, int $cents): void { $this->lines[] = ['sku' => $sku, 'qty' => $qty, 'cents' => $cents]; }
    public function net(): int { $s = 0; foreach ($this->lines as $l) $s += line_total($l); return $s; }
}
function line_total(array $l): int { return discount($l['qty'], $l['qty'] * $l['cents']); }
function discount(int $qty, int $amount): int { return $qty > 5 ? intdiv($amount * 93, 100) : $amount; }
function tax(int $net, string $region): int { return (int) round($net * ['eu' => 0.21, 'us' => 0.07, 'uk' => 0.2][$region]); }
function money(int $c): string { return number_format($c / 100, 2, '.', ','); }
function load_invoice(int $no, Customers $cs): Invoice {
    $inv = new Invoice($no, $cs->find($no * 7));
    for ($i = 0; $i < 4 + $no % 5; $i++) $inv->add("SKU-" . (($no * 31 + $i) % 997), 1 + ($no + $i) % 9, 100 + ($no * 13 + $i * 77) % 9000);
    return $inv;
}
function filter_value(mixed $v, ?string $f): string { return match ($f) { 'money' => money($v), 'upper' => strtoupper($v), default => htmlspecialchars((string) $v) }; }
function render(array $nodes, array $vars): string {
    $o = '';
    foreach ($nodes as [$k, $v, $f]) $o .= $k === 'text' ? $v : filter_value($vars[$v] ?? '', $f);
    return $o;
}
function send_mail(string $to, string $body): int { return strlen(base64_encode(gzcompress($body, 1))) + strlen($to); }
function export_row(Invoice $inv): string { return implode(';', array_map('csv_cell', [$inv->no, $inv->customer['name'], money($inv->net()), $inv->customer['region']])); }
function csv_cell(mixed $v): string { return '"' . str_replace('"', '""', (string) $v) . '"'; }
class App {
    private array $tpl = [
        'mail' => "Dear {{name}},\nyour invoice {{no}} over {{gross|money}} (net {{net|money}}, tax {{tax|money}}) is due on {{due}}.\nRegion {{region|upper}}, {{count}} lines, level {{level}}.\n{{footer}}",
        'reminder' => "Reminder {{no|upper}} for {{name|upper}}: {{gross|money}} is overdue since {{due}}. {{footer}}",
    ];
    public function __construct(private Customers $cs, private TemplateCache $tc) {}
    public function bill(int $no): int {
        $inv = load_invoice($no, $this->cs); $net = $inv->net(); $tax = tax($net, $inv->customer['region']);
        $vars = $inv->customer + ['no' => $no, 'net' => $net, 'tax' => $tax, 'gross' => $net + $tax, 'due' => '2026-12-01', 'count' => count($inv->lines), 'footer' => 'Kind regards & thanks'];
        $body = render($this->tc->get('mail', $this->tpl['mail'], $no), $vars);
        return send_mail($inv->customer['name'], $body);
    }
    public function remind(int $no): int {
        $inv = load_invoice($no, $this->cs);
        return strlen(render($this->tc->get('reminder', $this->tpl['reminder'], $no), $inv->customer + ['no' => "R$no", 'gross' => $inv->net(), 'due' => '2026-11-01', 'footer' => 'Please pay']));
    }
    public function export(int $from): int { $n = 0; for ($i = 0; $i < 5; $i++) $n += strlen(export_row(load_invoice($from + $i, $this->cs))); return $n; }
}
$n = (int) $argv[1];
$app = new App(new Customers(300), new TemplateCache($SLOW));
$bytes = 0; $t = microtime(true);
for ($i = 0; $i < $n; $i++) { $bytes += $app->bill($i); if ($i % 3 == 0) $bytes += $app->remind($i); if ($i % 4 == 0) $bytes += $app->export($i); }
printf("%d invoices %d bytes %.2f s\n", $n, $bytes, microtime(true) - $t);
