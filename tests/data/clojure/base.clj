;; A shop: discounts are looked up in a map of rules by code.
(ns shop (:require [clojure.string :as str]))

(def rules (vec (for [i (range 400)] {:code (str "code-" i) :percent (mod i 30)})))
(def by-code (into {} (map (juxt :code identity)) rules))
(defn find-rule [code] (get by-code code))

(defn discount [{:keys [code price]}]
  (let [rule (find-rule code)] (quot (* price (- 100 (:percent rule))) 100)))

(defn order [n]
  (mapv (fn [i] {:code (str "code-" (mod (* n i) 400)) :price (+ 100 (mod (* 31 n i) 900))}) (range 20)))

(defmulti label :kind)
(defmethod label :short [{:keys [text]}] (subs text 0 (min 12 (count text))))
(defmethod label :long [{:keys [text]}] (str/upper-case text))

(defn receipt [lines]
  (->> lines
       (map (fn [{:keys [code price]}] (str (str/capitalize code) ": " price)))
       (map (fn [t] (label {:kind (if (odd? (count t)) :short :long) :text t})))
       (str/join "\n")))

(defn serve [n]
  (let [lines (order n)
        total (reduce + (map discount lines))]
    (str (receipt lines) "\n" total)))

(let [end (+ (System/currentTimeMillis) (Long/parseLong (first *command-line-args*)))]
  (loop [n 0 size 0]
    (if (< (System/currentTimeMillis) end)
      (recur (inc n) (+ size (count (serve n))))
      (println n "orders," size "bytes"))))
