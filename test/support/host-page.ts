// The page of another program, at an origin of its own, that frames a page of this server and keeps the messages that it gets.
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after } from 'node:test'
import type { Frame, Page } from 'playwright-core'

interface HostMessage {
  origin: string
  data: unknown
}

export interface HostPage {
  origin: string
  /** Opens the page with an address in its frame. */
  frame: (page: Page, address: string) => Promise<Frame>
  /** What the page in the frame has sent, and from which origin. */
  messages: (page: Page) => Promise<HostMessage[]>
}

const HTML = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Fictional clinic</title>
<style>body { margin: 0 } iframe { display: block; width: 100%; height: 100vh; border: 0 }</style>
<iframe title="Laboratory" name="lab"></iframe>
<script>
  window.received = []
  addEventListener('message', ({ origin, data }) => received.push({ origin, data }))
  document.querySelector('iframe').src = new URLSearchParams(location.search).get('address')
</script>
</html>`

/** Starts a host page. @param host of another site than that of the server */
export async function startHostPage(host: 'localhost' | '127.0.0.1'): Promise<HostPage> {
  const server = createServer((request, response) => {
    if (request.url?.startsWith('/favicon')) return void response.writeHead(204).end()
    response.writeHead(200, { 'content-type': 'text/html' }).end(HTML)
  })
  server.listen(0, host)
  await once(server, 'listening')
  after(() => server.close())
  const origin = `http://${host}:${(server.address() as AddressInfo).port}`
  return {
    origin,
    async frame(page, address) {
      await page.goto(`${origin}/?address=${encodeURIComponent(address)}`)
      return page.frame({ name: 'lab' })!
    },
    messages: (page) => page.evaluate<HostMessage[]>('window.received'),
  }
}
