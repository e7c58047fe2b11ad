# Validates orders with ajv under Node's sampler; $1 receives wall.pb.gz, $2 is base or new.
set -e
npm install --silent --no-audit --no-fund
node server.js "$1" "$2"
