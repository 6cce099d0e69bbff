// The limit for reading: bare Fastify that answers with what one prepared statement returns. Started by reads.ts as a process.
import Fastify from 'fastify'
import pg from 'pg'

/** A statement that returns one column, `text`: the answer. With `isById` its last value is the part of the path after `/`. */
const { connection, text, values, isById, connections } = JSON.parse(process.argv[2]!) as {
  connection: pg.PoolConfig
  text: string
  values: unknown[]
  isById?: boolean
  connections: number
}
const pool = new pg.Pool({ ...connection, max: connections, options: '-c search_path=sandbox_us' })
const app = Fastify({ logger: false })
app.get<{ Params: { id: string } }>('/:id', async ({ params }, reply) => {
  const { rows } = await pool.query<{ text: string }>({ name: 'read', text, values: isById ? [...values, params.id] : values })
  return reply
    .header('content-type', 'application/json')
    .send(rows.length === 1 ? rows[0]!.text : `[${rows.map((row) => row.text).join()}]`)
})
process.stdout.write(`${await app.listen({ port: 0, host: '127.0.0.1' })}\n`)
