// A real browser, Debian's Chromium without a window, spoken to over its own protocol (Chrome DevTools Protocol).
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { scratch } from './embedded-postgres.ts'

const PROGRAM = '/usr/bin/chromium'
const WAIT_MS_MAX = 60_000
/** It asks nobody but the page's server, and keeps nothing. */
const FLAGS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--disable-dev-shm-usage',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--remote-debugging-port=0',
  '--window-size=1200,1000',
]

export const hasBrowser = (): boolean => existsSync(PROGRAM)

export interface Page {
  /** What the browser complains of: violations of policies, failed requests, errors that nobody caught, warnings of scripts. */
  complaints: string[]
  /** Opens an address and waits until it is loaded. */
  open(url: string): Promise<void>
  /** The value of an expression in the page. */
  value<V>(expression: string): Promise<V>
  /** Waits until an expression is true in the page. */
  until(expression: string): Promise<void>
  /** Presses with the mouse on the element that an expression names. */
  press(element: string): Promise<void>
  /** Types into the field that an expression names. */
  type(element: string, text: string): Promise<void>
  /** Makes the page as wide and high as the screen of a phone. */
  asPhone(width: number, height: number): Promise<void>
  /** Whether the person has set light or dark pages. */
  inScheme(scheme: 'light' | 'dark'): Promise<void>
  /** The whole page as a PNG. */
  screenshot(): Promise<Buffer>
}

export interface Browser {
  page(): Promise<Page>
  close(): Promise<void>
}

type Params = Record<string, unknown>
interface Message {
  id?: number
  method?: string
  params?: Params
  result?: Params
  error?: { message: string }
}

/** Starts a browser with a profile of its own, which is gone afterwards. */
export async function browser(): Promise<Browser> {
  const child = spawn(PROGRAM, [...FLAGS, `--user-data-dir=${join(scratch, 'browser')}`], {
    stdio: ['ignore', 'ignore', 'pipe'],
    detached: true,
  })
  const ended = once(child, 'close')
  const kill = () => {
    try {
      process.kill(-child.pid!, 'SIGKILL')
    } catch {
      // It has ended.
    }
  }
  process.once('exit', kill)
  const address = await addressIn(child.stderr)
  const socket = new WebSocket(address)
  await once(socket as never, 'open')
  const waiting = new Map<number, (message: Message) => void>()
  const listeners = new Set<(message: Message & { sessionId?: string }) => void>()
  socket.addEventListener('message', ({ data }) => {
    const message = JSON.parse(data as string) as Message
    if (message.id === undefined) for (const listener of listeners) listener(message)
    else waiting.get(message.id)!(message)
  })
  let id = 0
  const ask = async (method: string, params: Params = {}, sessionId?: string): Promise<Params> => {
    id += 1
    const answer = new Promise<Message>((resolve) => waiting.set(id, resolve))
    socket.send(JSON.stringify({ id, method, params, ...(sessionId !== undefined && { sessionId }) }))
    const { result, error } = await answer
    if (error) throw new Error(`${method}: ${error.message}`)
    return result!
  }
  return {
    async page() {
      const { targetId } = await ask('Target.createTarget', { url: 'about:blank' })
      const { sessionId } = await ask('Target.attachToTarget', { targetId, flatten: true })
      const events = (listener: (method: string, params: Params) => void) =>
        listeners.add((message) => message.sessionId === sessionId && listener(message.method!, message.params!))
      return pageOf((method, params) => ask(method, params, sessionId as string), events)
    },
    async close() {
      process.off('exit', kill)
      socket.close()
      kill()
      await ended
    },
  }
}

async function addressIn(stderr: NodeJS.ReadableStream): Promise<string> {
  const said: string[] = []
  for await (const line of createInterface(stderr)) {
    said.push(line)
    const found = /^DevTools listening on (ws:\S+)$/.exec(line)
    if (!found) continue
    stderr.resume()
    return found[1]!
  }
  throw new Error(`the browser did not start: ${said.join('\n')}`)
}

async function pageOf(
  ask: (method: string, params?: Params) => Promise<Params>,
  events: (listener: (method: string, params: Params) => void) => void,
): Promise<Page> {
  const complaints: string[] = []
  let loaded = false
  events((method, params) => {
    if (method === 'Page.loadEventFired') loaded = true
    if (method === 'Log.entryAdded') complaints.push((params.entry as { text: string }).text)
    if (method === 'Audits.issueAdded' && (params.issue as { code: string }).code === 'ContentSecurityPolicyIssue')
      complaints.push(JSON.stringify(params.issue))
    if (method === 'Runtime.exceptionThrown') complaints.push(JSON.stringify(params.exceptionDetails))
    if (method === 'Runtime.consoleAPICalled' && /^(error|warning|assert)$/.test(params.type as string))
      complaints.push(JSON.stringify(params.args))
  })
  for (const domain of ['Page', 'Runtime', 'Log', 'Audits']) await ask(`${domain}.enable`)
  const value = async <V>(expression: string): Promise<V> => {
    const { result, exceptionDetails } = await ask('Runtime.evaluate', { expression, returnByValue: true, awaitPromise: true })
    if (exceptionDetails) throw new Error(`${expression}: ${JSON.stringify(exceptionDetails)}`)
    return (result as { value: V }).value
  }
  const until = async (expression: string): Promise<void> => {
    for (const end = performance.now() + WAIT_MS_MAX; !(await value(`Boolean(${expression})`)); await sleep(20))
      if (performance.now() > end)
        throw new Error(
          `it never became so: ${expression}\n${complaints.join('\n')}\n${await value('document.body.innerText.slice(0, 1000)')}`,
        )
  }
  const press = async (element: string): Promise<void> => {
    await until(element)
    const [x, y] = await value<[number, number]>(
      `(() => { const one = ${element}; one.scrollIntoView({ block: 'center', behavior: 'instant' });
        const { left, top, width, height } = one.getBoundingClientRect(); return [left + width / 2, top + height / 2] })()`,
    )
    const at = { x, y, button: 'left', clickCount: 1 }
    for (const type of ['mousePressed', 'mouseReleased']) await ask('Input.dispatchMouseEvent', { type, ...at })
  }
  return {
    complaints,
    async open(url) {
      loaded = false
      await ask('Page.navigate', { url })
      for (const end = performance.now() + WAIT_MS_MAX; !loaded; await sleep(10))
        if (performance.now() > end) throw new Error(`${url} was never loaded`)
    },
    value,
    until,
    press,
    async type(element, text) {
      await press(element)
      await ask('Input.insertText', { text })
    },
    async asPhone(width, height) {
      await ask('Emulation.setDeviceMetricsOverride', { width, height, deviceScaleFactor: 2, mobile: true })
    },
    async inScheme(value) {
      await ask('Emulation.setEmulatedMedia', { features: [{ name: 'prefers-color-scheme', value }] })
    },
    async screenshot() {
      const { data } = await ask('Page.captureScreenshot', { format: 'png', captureBeyondViewport: true })
      return Buffer.from(data as string, 'base64')
    },
  }
}
