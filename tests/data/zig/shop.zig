const std = @import("std");
const planted = @import("options").planted;
const Account = struct { id: u64, cents: i64 };
const Ledger = struct {
    accounts: [2000]Account,
    noinline fn find(self: *const Ledger, id: u64) ?*const Account {
        if (planted) {
            for (&self.accounts) |*one| if (one.id == id) return one;
            return null;
        }
        var low: usize = 0;
        var high: usize = self.accounts.len;
        while (low < high) {
            const mid = low + (high - low) / 2;
            if (self.accounts[mid].id == id) return &self.accounts[mid];
            if (self.accounts[mid].id < id) low = mid + 1 else high = mid;
        }
        return null;
    }
    noinline fn digest(self: *const Ledger, rounds: usize) u64 {
        var h: u64 = 7;
        for (0..rounds) |r| for (&self.accounts) |*one| {
            h = (h *% 31) ^ (one.id +% @as(u64, @bitCast(one.cents)) +% r);
        };
        return h;
    }
};
var ledger: Ledger = undefined;
noinline fn serve(n: u64) u64 {
    var sum: u64 = 0;
    for (0..300) |i| {
        if (ledger.find((n * 7919 + i * 37) % 6000 / 3 * 3)) |one| sum +%= @bitCast(one.cents);
    }
    return sum ^ ledger.digest(40);
}
pub fn main() void {
    for (&ledger.accounts, 0..) |*one, i| one.* = .{ .id = i * 3, .cents = @intCast(i * 17 % 1000) };
    var n: u64 = 0;
    var keep: u64 = 0;
    while (n < 60000) : (n += 1) keep ^= serve(n);
    std.debug.print("{d} {d}\n", .{ n, keep });
}
