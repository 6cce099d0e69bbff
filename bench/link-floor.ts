// The limit for the intake of links: a server that reads frames, inserts each message, commits, and acknowledges. Started as a process with the
// connection of the database as its argument.
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import pg from 'pg'
import { FrameReader, frameOf } from '../src/lab/hl7/frame-reader.ts'

const CONNECTIONS = 8
const pool = new pg.Pool({ ...(JSON.parse(process.argv[2]!) as pg.PoolConfig), max: CONNECTIONS })
await pool.query(
  'create table if not exists floor_message (id bigint generated always as identity primary key, bytes bytea not null)',
)

const server = createServer((socket) => {
  const reader = new FrameReader({ bytesMax: 64 * 1024 * 1024, endsWithoutReturn: false })
  socket.setNoDelay(true)
  socket.on('error', () => socket.destroy())
  socket.on('data', async (chunk) => {
    for (const { bytes } of reader.push(chunk)) {
      await pool.query({ name: 'insert', text: 'insert into floor_message (bytes) values ($1)', values: [bytes] })
      const control_id = bytes.toString('latin1', 0, 400).split('|')[9]!
      socket.write(frameOf(Buffer.from(`MSH|^~\\&|FLOOR\rMSA|AA|${control_id}\r`)))
    }
  })
})
server.listen(0, '127.0.0.1', () => process.stdout.write(`http://127.0.0.1:${(server.address() as AddressInfo).port}\n`))
