// Large bodies take a bounded part of the memory, and those of one team leave room for others.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { after, describe, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { eventually } from '../../../test/support/eventually.ts'
import { createTestTeam, url, type TestTeam } from '../../../test/support/server.ts'
import { Problem } from '../runtime/problem.ts'
import { BodyMemory } from './input.ts'

const MIB = 1024 * 1024
const sockets: Socket[] = []
after(() => {
  for (const socket of sockets) socket.destroy()
})

const statusOf = (work: () => void): number => {
  try {
    work()
  } catch (error) {
    if (error instanceof Problem) return error.status
    throw error
  }
  return 200
}

test('bodies of one team get 429 past its share, bodies of all teams 503, and give their bytes back once', () => {
  const memory = new BodyMemory({ bytes_max: 10, team_bytes_max: 6 })
  const [first, second, other, late] = ['a', 'a', 'b', 'c'].map((team) => memory.share(team))
  first!.add(4)
  assert.equal(
    statusOf(() => second!.add(3)),
    429,
  )
  second!.add(2)
  other!.add(3)
  assert.equal(
    statusOf(() => late!.add(2)),
    503,
  )
  first!.release()
  first!.add(5)
  late!.add(5)
  for (const share of [second!, other!, late!]) share.release()
  assert.equal(memory.bytes, 0)
})

/** A request whose body is announced, or whose first chunk has come, and does not end. */
async function begin({ key }: TestTeam, path: string, head: string, body: string | Buffer = '') {
  const socket = connect(Number(new URL(url).port), '127.0.0.1').on('error', () => {})
  sockets.push(socket)
  let receivedText = ''
  socket.setEncoding('latin1').on('data', (text) => (receivedText += text))
  await once(socket, 'connect')
  socket.write(
    `POST ${path} HTTP/1.1\r\nHost: localhost\r\nX-Service-Api-Key: ${key}\r\nContent-Type: application/octet-stream\r\n${head}\r\n\r\n`,
  )
  socket.write(body)
  return { receivedText: () => receivedText, socket }
}

describe('uploads of a team that takes its share', () => {
  const UPLOAD = 30 * MIB
  const path = '/lab_report/v1/parser/job'
  const isRefused = ({ receivedText }: { receivedText: () => string }) => receivedText().includes('HTTP/1.1 429 ')
  const announce = (team: TestTeam) => begin(team, path, `Content-Length: ${UPLOAD}`)
  /** Four uploads that do not end; a fifth one has no room. */
  async function full(team: TestTeam) {
    // Its key is known then, so that the uploads are admitted in their order.
    await team.user()
    const open: Awaited<ReturnType<typeof begin>>[] = []
    for (let i = 0; i < 5; i++) open.push(await announce(team))
    await eventually(() => open.some(isRefused), 'one of five is refused')
    return open
  }

  test('are refused until earlier ones have ended; another team is served', async () => {
    const [greedy, other] = [await createTestTeam(), await createTestTeam()]
    const open = await full(greedy)
    assert.equal(open.filter(isRefused).length, 1)
    assert.match(open.find(isRefused)!.receivedText(), /\r\nretry-after: 1\r\n/i)
    const small = await other.api.post(path, 'nothing', { 'content-type': 'text/plain' })
    assert.equal(small.status, 422)
    for (const { socket } of open) socket.destroy()
    await eventually(async () => {
      // It is refused at once, or waits for its body.
      const again = await begin(greedy, path, `Content-Length: ${UPLOAD}`, 'x'.repeat(1000))
      const next = await greedy.api.get('/v2/user')
      assert.equal(next.status, 200)
      again.socket.destroy()
      return !isRefused(again)
    }, 'there is room again')
  })

  test('are counted as they come where their length is not known before, also after decompression', async () => {
    const team = await createTestTeam()
    const open = await full(team)
    const zeros = Buffer.alloc(20 * MIB)
    const packed = gzipSync(zeros)
    const gzip = await begin(team, path, `Content-Encoding: gzip\r\nContent-Length: ${packed.length}`, packed)
    await eventually(() => isRefused(gzip), 'the packed one is refused')
    const chunk = `${zeros.length.toString(16)}\r\n${zeros.toString('latin1')}\r\n0\r\n\r\n`
    const chunked = await begin(team, path, 'Transfer-Encoding: chunked', chunk)
    await eventually(() => isRefused(chunked), 'the one in chunks is refused')
    for (const { socket } of open) socket.destroy()
  })

  test('longer than the maximum get 413, even when memory is free', async () => {
    const team = await createTestTeam()
    const long = await begin(team, path, 'Content-Length: 9000000000')
    await eventually(() => long.receivedText() !== '')
    assert.match(long.receivedText(), /^HTTP\/1\.1 413 /)
  })
})
