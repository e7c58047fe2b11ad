<?php
class Router {
  private array $routes = []; private bool $planted; private bool $sorted = false;
  function __construct(bool $planted) { $this->planted = $planted; for ($i = 0; $i < 60; $i++) $this->routes[] = "/api/v" . ($i % 5) . "/thing" . str_repeat("x", $i % 17) . $i; }
  static function longer(string $a, string $b): int { return strlen($b) <=> strlen($a); }
  function match(string $path): int {
    if ($this->planted || !$this->sorted) { usort($this->routes, ['Router', 'longer']); $this->sorted = true; }
    foreach ($this->routes as $i => $r) if (str_starts_with($path, $r)) return $i;
    return -1;
  }
}
function render(int $n): string { $out = ''; for ($i = 0; $i < 80; $i++) $out .= htmlspecialchars("row <$i> of $n"); return $out; }
function digest(string $s): int { $h = 7; $n = strlen($s); for ($i = 0; $i < $n; $i++) $h = ($h * 31 + ord($s[$i])) & 0xffffff; return $h; }
$p = new ExcimerProfiler; $p->setPeriod(0.002); $p->setEventType(EXCIMER_CPU); $p->start();
$r = new Router($argv[1] === 'new'); $end = microtime(true) + (float)$argv[2]; $ops = 0;
while (microtime(true) < $end) { $r->match("/api/v3/thing" . ($ops % 60)); digest(render($ops)); $ops++; }
$p->stop(); $log = $p->getLog();
file_put_contents("$argv[3].folded", $log->formatCollapsed());
echo "operations $ops\n";
