// Luarules routes messages by a Lua script, a state for each worker.
package main

import (
	"fmt"

	"example.com/acme/lua"
	"example.com/field/capture"
)

const source = `
local seen = {}
function route(messages)
	local counts, parts = {}, {}
	for i, message in ipairs(messages) do
		local user, host, path = string.match(message, "^(%w+)@([%w%.%-]+)/(.*)$")
		counts[host] = (counts[host] or 0) + #path
		seen[user] = i
		parts[#parts + 1] = string.gsub(path, "id=%d+", "id=*")
	end
	local hosts = {}
	for host, count in pairs(counts) do hosts[#hosts + 1] = host .. "=" .. count end
	table.sort(hosts)
	return table.concat(hosts, ",") .. table.concat(parts, ";")
end
`

func main() {
	capture.Main(func() (capture.Load, error) {
		states := make([]*lua.LState, 2)
		messages := make([]*lua.LTable, 2)
		for i := range states {
			states[i] = lua.NewState()
			if err := states[i].DoString(source); err != nil {
				return capture.Load{}, err
			}
			messages[i] = states[i].NewTable()
			for n := 0; n < 100; n++ {
				messages[i].Append(lua.LString(fmt.Sprintf("user%d@host-%d.example.com/orders/%d?id=%d&sort=date", n%30, n%17, n, n*101)))
			}
		}
		return capture.Load{Workers: len(states), Step: func(worker int) error {
			state := states[worker]
			call := lua.P{Fn: state.GetGlobal("route"), NRet: 1, Protect: true}
			if err := state.CallByParam(call, messages[worker]); err != nil {
				return err
			}
			out := state.ToString(-1)
			state.Pop(1)
			if len(out) < 1000 {
				return fmt.Errorf("a short answer: %s", out)
			}
			return nil
		}}, nil
	})
}
