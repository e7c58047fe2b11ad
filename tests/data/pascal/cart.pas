program cart;
{$mode objfpc}{$inline off}
uses sysutils;
type TLine = record price, count: int64; end;
  TLines = array of TLine;
  TCart = class
    lines: TLines;
    function Total: int64;
    function Names: int64;
  end;
function TCart.Total: int64;
var i: integer; own: TLines; sum: int64;
begin
  {$ifdef planted} own := copy(lines); {$else} own := lines; {$endif}
  sum := 0;
  for i := 0 to high(own) do sum := sum + own[i].price * own[i].count;
  Total := sum;
end;
function TCart.Names: int64;
var i: integer; s: string;
begin
  Names := 0;
  for i := 0 to 20 do begin s := 'line ' + inttostr(lines[i].price); Names := Names + length(s); end;
end;
function Serve(c: TCart): int64;
begin Serve := c.Total + c.Names; end;
var c: TCart; i, n: integer; keep: int64;
begin
  c := TCart.create; setlength(c.lines, 1500);
  for i := 0 to 1499 do begin c.lines[i].price := i * 7919 mod 500; c.lines[i].count := i mod 7; end;
  keep := 0;
  for n := 1 to 600000 do keep := keep xor Serve(c);
  writeln(n, ' ', keep);
end.
