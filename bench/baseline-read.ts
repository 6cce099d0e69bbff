// The limit for reading: bare Fastify that answers with one prepared select of the same bytes. Started by main.ts as a process.
import Fastify from 'fastify'
import pg from 'pg'

const { connection, id, connections } = JSON.parse(process.argv[2]!) as {
  connection: pg.PoolConfig
  id: string
  connections: number
}
const pool = new pg.Pool({ ...connection, max: connections, options: '-c search_path=sandbox_us' })
const app = Fastify({ logger: false })
app.get('/order', async (_request, reply) => {
  const { rows } = await pool.query<{ document: string }>({
    name: 'read',
    text: 'select document from lab_order where id = $1',
    values: [id],
  })
  return reply.header('content-type', 'application/json').send(rows[0]!.document)
})
process.stdout.write(`${await app.listen({ port: 0, host: '127.0.0.1' })}\n`)
