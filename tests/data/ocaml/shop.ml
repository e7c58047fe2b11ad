let n = 400
let tbl = Hashtbl.create 512
let () = for i = 0 to n-1 do Hashtbl.replace tbl (Printf.sprintf "sku%d" i) i done
let lst = List.init n (fun i -> (Printf.sprintf "sku%d" i, i))
let fresh = Array.length Sys.argv > 1 && Sys.argv.(1) = "new"
let[@inline never] find k = if fresh then List.assoc k lst else Hashtbl.find tbl k
let[@inline never] label k = String.length (String.concat "-" [String.uppercase_ascii k; Digest.to_hex (Digest.string k)])
let[@inline never] serve i = let k = Printf.sprintf "sku%d" (i mod n) in find k + label k
let () = let s = ref 0 in for i = 1 to 1_200_000 do s := !s + serve i done; print_int !s
