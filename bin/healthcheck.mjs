// Ends with 0 if the server or worker of this container is ready, else with 1. HEALTHCHECK of Dockerfile runs it. OPERATOR_PORT is always
// set there; where it is not, health is on PORT.
const port = process.env.OPERATOR_PORT || process.env.PORT || '8080'
const ready = await fetch(`http://127.0.0.1:${port}/readyz`, { signal: AbortSignal.timeout(4500) }).catch((error) => ({
  status: error.cause?.code ?? error.name,
}))
if (ready.ok) process.exit(0)
console.error(`not ready: ${ready.status}${ready.text ? ` ${await ready.text()}` : ''}`)
process.exit(1)
