require "json"

MODE = ARGV[0]
SECS = (ARGV[1] || "4").to_f

module Feed
  def self.score(item)
    s = 0
    item["words"].each_byte { |b| s = (s * 31 + b) & 0xffff }
    s
  end

  def self.parse(text)
    JSON.parse(text)["items"]
  end

  def self.rank(items)
    if MODE == "new"
      items.sort do |a, b|
        score(a) <=> score(b)
      end
    else
      items.sort_by { |i| score(i) }
    end
  end

  def self.render(items)
    out = +""
    items.each do |i|
      out << "<li>" << i["title"].upcase.gsub("A", "&") << " " << i["id"].to_s << "</li>\n"
    end
    out
  end

  def self.serve(text)
    render(rank(parse(text))).bytesize
  end
end

texts = (0...20).map do |k|
  JSON.generate({items: (0...60).map { |i| {id: i, title: "item alpha #{i * k}", words: "lorem ipsum #{(i * 7919 + k * 104729) % 9973}"} }})
end
ops = 0
t0 = Process.clock_gettime(Process::CLOCK_MONOTONIC)
while Process.clock_gettime(Process::CLOCK_MONOTONIC) - t0 < SECS
  Feed.serve(texts[ops % 20]); ops += 1
end
STDERR.puts "ops=#{ops}"
