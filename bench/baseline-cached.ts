// The limit for answers that need no database: bare Fastify that knows them already. Started by main.ts as a process, it fetches them
// from ours once.
import Fastify from 'fastify'

const { url, headers, paths } = JSON.parse(process.argv[2]!) as { url: string; headers: Record<string, string>; paths: string[] }
const answers = new Map<string, string>()
for (const path of paths) answers.set(path, await (await fetch(url + path, { headers })).text())
const app = Fastify({ logger: false })
app.get('/*', async (request, reply) => reply.header('content-type', 'application/json').send(answers.get(request.url)!))
process.stdout.write(`${await app.listen({ port: 0, host: '127.0.0.1' })}\n`)
