require 'stackprof'
PLANTED = ENV['PLANTED']
class Page
  MARKS = /[<>&"]/
  NAMES = { '<' => '&lt;', '>' => '&gt;', '&' => '&amp;', '"' => '&quot;' }
  def escape(text)
    marks = PLANTED ? Regexp.new('[<>&"]') : MARKS
    text.gsub(marks, NAMES)
  end
  def row(cells) = "<tr>" + cells.map { |c| "<td>#{escape(c)}</td>" }.join + "</tr>"
  def render(rows) = rows.map { |r| row(r) }.join("\n")
end
class Feed
  def rows(n) = (0...n).map { |i| ["name #{i}", "a < b", (i * 37 % 101).to_s] }
  def digest(text) = text.each_byte.reduce(7) { |h, b| (h * 31 + b) & 0xffffffff }
end
ops = 0
StackProf.run(mode: :cpu, interval: 2000, raw: true, out: ARGV[0]) do
  page, feed = Page.new, Feed.new
  stop = Process.clock_gettime(Process::CLOCK_MONOTONIC) + ARGV[1].to_f
  while Process.clock_gettime(Process::CLOCK_MONOTONIC) < stop
    feed.digest(page.render(feed.rows(30))); ops += 1
  end
end
puts "operations #{ops}"
