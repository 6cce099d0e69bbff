import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { RequestListener, Server } from 'node:http'
import { connect, type AddressInfo, type Socket } from 'node:net'
import { after, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { Sockets, type SocketLimits } from './sockets.ts'
import { eventually } from '../../../test/support/eventually.ts'

const closing: (() => void)[] = []
after(() => closing.forEach((close) => close()))

async function listening(handler: RequestListener, limits: Partial<SocketLimits> = {}) {
  const sockets = new Sockets({ connections_max: 100, isTrusted: () => false, ...limits })
  const server: Server = sockets.server(handler)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  closing.push(() => {
    server.close()
    server.closeAllConnections()
  })
  const { port } = server.address() as AddressInfo
  return { sockets, server, port }
}

interface Peer {
  socket: Socket
  receivedText: () => string
  isClosed: () => boolean
}

/** A connection of a test that can stop reading. */
async function peer(port: number, { reads = true } = {}): Promise<Peer> {
  const socket = connect(port, '127.0.0.1').on('error', () => {})
  let heard = ''
  let closed = false
  socket.on('close', () => (closed = true))
  await once(socket, 'connect')
  closing.push(() => socket.destroy())
  if (reads) socket.setEncoding('latin1').on('data', (text) => (heard += text))
  else socket.pause()
  return { socket, receivedText: () => heard, isClosed: () => closed }
}

const get = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`
const times = (text: string, part: string): number => text.split(part).length - 1

describe('requests of one connection', () => {
  test('are served one after another, in order', async () => {
    let running = 0
    let most = 0
    const { port } = await listening((request, response) => {
      most = Math.max(most, ++running)
      setTimeout(() => {
        running -= 1
        response.end(`answer to ${request.url}.`)
      }, 5)
    })
    const { socket, receivedText } = await peer(port)
    socket.write(Array.from({ length: 17 }, (_, i) => get(`/${i}`)).join(''))
    await eventually(() => times(receivedText(), 'answer to') === 17)
    assert.deepEqual(
      [...receivedText().matchAll(/answer to \/(\d+)\./g)].map(([, n]) => Number(n)),
      Array.from({ length: 17 }, (_, i) => i),
    )
    assert.equal(most, 1)
  })

  test('with bodies arrive whole, also if the next ones are pipelined and in pieces', async () => {
    const { port } = await listening(async (request, response) => {
      let body = ''
      for await (const chunk of request) body += chunk
      await sleep(2)
      response.end(`<${body}>`)
    })
    const { socket, receivedText } = await peer(port)
    const text = Array.from({ length: 12 }, (_, i) => {
      const body = `${i} `.repeat(900)
      return `POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${body.length}\r\n\r\n${body}`
    }).join('')
    for (let at = 0; at < text.length; at += 1700) {
      socket.write(text.slice(at, at + 1700))
      await sleep(1)
    }
    await eventually(() => times(receivedText(), '>') === 12)
    assert.deepEqual(
      [...receivedText().matchAll(/<(\d+) /g)].map(([, n]) => Number(n)),
      Array.from({ length: 12 }, (_, i) => i),
    )
  })

  test('that wait are few: a peer that sends more is disconnected', async () => {
    let received = 0
    const { port } = await listening(() => void received++, { pipelined_max: 8 })
    const [modest, greedy] = [await peer(port), await peer(port)]
    modest.socket.write(get('/').repeat(9))
    greedy.socket.write(get('/').repeat(10))
    await eventually(greedy.isClosed)
    await eventually(() => received === 2)
    assert.equal(modest.isClosed(), false)
  })

  test('are read no further once their peer is disconnected, although more of them have arrived', async () => {
    let requests = 0
    const { server, port } = await listening(() => {}, { pipelined_max: 8 })
    server.on('request', () => requests++)
    const { socket, isClosed } = await peer(port)
    socket.write(get('/').repeat(1500))
    await eventually(isClosed)
    assert.equal(requests, 10)
  })

  test('have one Host header each: two get 400 and end the connection', async () => {
    const { port } = await listening((_request, response) => response.end('served'))
    for (const headers of ['Host: a\r\nHost: b', 'host: a\r\nHOST: a', 'Host: a\r\nX: y\r\nhOst: b']) {
      const { socket, receivedText, isClosed } = await peer(port)
      socket.write(`GET / HTTP/1.1\r\n${headers}\r\n\r\n${get('/')}`)
      await eventually(isClosed)
      assert.match(receivedText(), /^HTTP\/1\.1 400 Bad Request\r\n/)
      assert.match(receivedText(), /\r\nconnection: close\r\n/i)
      assert.match(receivedText(), /\{"detail":"[^"]+"\}$/)
    }
    const { socket, receivedText } = await peer(port)
    socket.write('GET / HTTP/1.1\r\nHost: a\r\nX-Host: b\r\nXost: c\r\n\r\n')
    await eventually(() => receivedText().endsWith('served'))
  })
})

test('a peer has a minute for the header of a request, and for all of it', async () => {
  const { server } = await listening(() => {})
  assert.deepEqual([server.headersTimeout, server.requestTimeout], [60_000, 60_000])
})

describe('a peer that does not read', () => {
  const LARGE = Buffer.alloc(16_000_000, 'x')

  test('has one response in memory at a time, and is disconnected', async () => {
    let answered = 0
    const { port, sockets } = await listening(
      (_request, response) => {
        answered += 1
        response.end(LARGE)
      },
      { watch_ms: 20, write_ms_max: 300 },
    )
    const { socket } = await peer(port, { reads: false })
    socket.write(get('/').repeat(10))
    await eventually(() => answered === 1)
    assert.equal(sockets.use.open, 1)
    await eventually(() => sockets.use.open === 0)
    assert.equal(answered, 1)
  })

  test('is distinguished from a peer that reads slowly, which gets the whole response', async () => {
    const { port } = await listening((_request, response) => response.end(LARGE), { watch_ms: 20, write_ms_max: 500 })
    const socket = connect(port, '127.0.0.1').on('error', () => {})
    await once(socket, 'connect')
    closing.push(() => socket.destroy())
    socket.write(get('/').replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n'))
    let read = 0
    let pauses = 0
    for await (const chunk of socket as AsyncIterable<Buffer>) {
      read += chunk.length
      if (read > pauses * 2_000_000) {
        pauses += 1
        await sleep(150)
      }
    }
    assert(read > LARGE.length, `${read} bytes were read`)
    assert(pauses * 150 > 500, 'it took longer than a peer may read nothing')
  })

  test('may not take indefinitely either, however often it reads a little', async () => {
    const { port, sockets } = await listening((_request, response) => response.end(LARGE), {
      watch_ms: 20,
      write_ms_max: 600_000,
      answer_ms_max: 400,
    })
    const { socket } = await peer(port, { reads: false })
    socket.write(get('/'))
    const reading = setInterval(() => socket.read(1000), 20)
    await eventually(() => sockets.use.open === 0).finally(() => clearInterval(reading))
  })
})

describe('connections', () => {
  const served: RequestListener = (_request, response) => response.end('served')
  const isServed = async ({ socket, receivedText, isClosed }: Peer): Promise<boolean> => {
    socket.write(get('/'))
    await eventually(() => isClosed() || receivedText().endsWith('served'))
    return !isClosed()
  }

  test('of one address are at most half of all, and a trusted address may have all', async () => {
    for (const [trusted, most] of [
      [false, 4],
      [true, 8],
    ] as const) {
      const { port, sockets } = await listening(served, { connections_max: 8, isTrusted: () => trusted })
      const peers: Peer[] = []
      for (let i = 0; i < 12; i++) peers.push(await peer(port))
      const answers = await Promise.all(peers.map(isServed))
      assert.equal(answers.filter(Boolean).length, most)
      assert.deepEqual(sockets.use, { open: most, rejections: 12 - most })
      peers.filter(({ isClosed }) => !isClosed())[0]!.socket.destroy()
      await eventually(() => sockets.use.open === most - 1)
      assert(await isServed(await peer(port)))
    }
  })

  test('end when the server stops: idle ones soon, half-sent requests and slow responses a while later', async () => {
    const { port, server, sockets } = await listening(() => {}, { quiet_ms: 5, untouched_ms: 50, unfinished_ms: 700 })
    const [silent, half, waiting] = [await peer(port), await peer(port), await peer(port)]
    half.socket.write('GET / HTTP/1.1\r\nHost: loc')
    waiting.socket.write(get('/'))
    await eventually(() => sockets.use.open === 3)
    const began_ms = performance.now()
    const ended = once(server, 'close')
    await sockets.close()
    await eventually(silent.isClosed)
    assert.deepEqual([half.isClosed(), waiting.isClosed()], [false, false])
    await ended
    assert(performance.now() - began_ms >= 690, 'unfinished requests have their time')
    await eventually(() => half.isClosed() && waiting.isClosed())
  })
})

describe('a server that stops', () => {
  const LARGE = Buffer.alloc(16_000_000, 'x')

  /** A client that sends one request. `reset` or `cut` if there is no whole response. */
  const asking = (port: number) => {
    const socket = connect(port, '127.0.0.1')
    let heard = ''
    let error: NodeJS.ErrnoException | undefined
    socket.setEncoding('latin1').on('data', (text) => (heard += text))
    socket.on('error', (socketError) => (error = socketError))
    socket.write(get('/').replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n'))
    return new Promise<string>((resolve) => {
      socket.on('close', () => resolve(heard.endsWith('served') ? 'answered' : (error?.code ?? 'cut')))
    })
  }

  test('serves every client that connected before its port closes, also connections that it has not accepted', async () => {
    const { port, sockets } = await listening((_request, response) => response.end('served'))
    const outcomes = Array.from({ length: 40 }, () => asking(port))
    // They connect at the end of this turn; the event loop has accepted none of them when the server begins to close.
    await new Promise<void>((resolve) => process.nextTick(resolve))
    assert.equal(sockets.use.open, 0)
    await sockets.close()
    assert.deepEqual(new Set(await Promise.all(outcomes)), new Set(['answered']))
    assert.equal(await asking(port), 'ECONNREFUSED')
  })

  test('waits for clients that reconnect at once, and serves them after its port is closed', async () => {
    let answered = 0
    const { port, sockets } = await listening((_request, response) => {
      answered += 1
      response.setHeader('connection', 'close')
      setTimeout(() => response.end('served'), 1)
    })
    const outcomes: string[] = []
    const clients = Array.from({ length: 10 }, async () => {
      for (;;) {
        const outcome = await asking(port)
        if (outcome !== 'answered') return void outcomes.push(outcome)
      }
    })
    await eventually(() => answered > 100)
    await sockets.close()
    await Promise.all(clients)
    assert.deepEqual(
      outcomes,
      Array.from({ length: 10 }, () => 'ECONNREFUSED'),
    )
  })

  test('closes its port also while clients keep connecting', async () => {
    const { port, server, sockets } = await listening((_request, response) => response.end('served'), { quiet_ms_max: 100 })
    const coming = setInterval(() => void asking(port), 2)
    await eventually(() => sockets.use.open > 0)
    await sockets.close()
    clearInterval(coming)
    assert.equal(server.listening, false)
  })

  test('sends ready responses completely before it closes idle connections', async () => {
    const { port, server, sockets } = await listening(({ url }, response) => response.end(url === '/large' ? LARGE : 'served'), {
      unfinished_ms: 60_000,
    })
    const idle = await peer(port)
    idle.socket.write(get('/'))
    await eventually(() => idle.receivedText().endsWith('served'))
    const { socket, isClosed } = await peer(port, { reads: false })
    socket.write(get('/large'))
    await eventually(() => socket.readableLength > 0)
    const ended = once(server, 'close')
    await sockets.close()
    let read = 0
    socket.on('data', (chunk: Buffer) => (read += chunk.length)).resume()
    await ended
    await eventually(() => isClosed() && idle.isClosed())
    assert(read > LARGE.length, `${read} bytes were read`)
  })
})
