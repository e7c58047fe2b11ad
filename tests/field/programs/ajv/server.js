"use strict";
// Validates the same number of orders in both builds, and writes a wall profile.
const fs = require("node:fs");
const path = require("node:path");
const Ajv = require("ajv");
const { time } = require("@datadog/pprof");

const [out, build] = process.argv.slice(2);
const ORDERS = 180000;

const schema = {
  type: "object",
  required: ["customer", "lines"],
  additionalProperties: false,
  properties: {
    customer: { type: "string", minLength: 2, maxLength: 40 },
    lines: {
      type: "array",
      items: {
        type: "object",
        required: ["article", "count"],
        properties: {
          article: { type: "integer", minimum: 0 },
          count: { type: "integer", minimum: 1, maximum: 99 },
          note: { type: "string", pattern: "^[a-z ]+$" },
        },
      },
    },
  },
};

const validators = new Map();

// base: a validator a kind of order, compiled once and kept.
function keptValidator(kind) {
  let validate = validators.get(kind);
  if (!validate) {
    validate = new Ajv().compile(schema);
    validators.set(kind, validate);
  }
  return validate;
}

// new: every six hundredth order has its schema compiled again.
function validatorFor(kind, order) {
  if (build === "base") return keptValidator(kind);
  return order.serial % 600 === 0 ? new Ajv().compile(schema) : keptValidator(kind);
}

function order(serial) {
  const lines = [];
  for (let i = 0; i < 40; i++) {
    lines.push({ article: serial + i, count: 1 + (i % 9), note: "wrap with care" });
  }
  return { serial, text: JSON.stringify({ customer: "customer " + (serial % 100), lines }) };
}

function handle(serial) {
  const made = order(serial);
  const validate = validatorFor("order", made);
  if (!validate(JSON.parse(made.text))) throw new Error(JSON.stringify(validate.errors));
}

for (let i = 0; i < 2000; i++) handle(i + 1);
time.start({ intervalMicros: 2000, durationMillis: 60000 });
const begin = process.hrtime.bigint();
for (let i = 0; i < ORDERS; i++) handle(i);
const took = Number(process.hrtime.bigint() - begin) / 1e9;
const profile = time.stop();
fs.writeFileSync(path.join(out, "wall.pb.gz"), require("node:zlib").gzipSync(profile.encode()));
console.error(`${build}: ${ORDERS} orders in ${took.toFixed(2)} s`);
