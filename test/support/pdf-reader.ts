// PDFs as others read them: text by poppler, barcodes by zbar from a picture of the page. Nothing of ours is in it.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Reply } from './test-server.ts'

const PROGRAMS = {
  pdftotext: 'poppler-utils',
  pdffonts: 'poppler-utils',
  pdftoppm: 'poppler-utils',
  pdfinfo: 'poppler-utils',
  zbarimg: 'zbar-tools',
}
const TIME_MS_MAX = 30_000

const missing = Object.entries(PROGRAMS).filter(([name]) => !existsSync(`/usr/bin/${name}`))

/** Why tests that read PDFs are left out; false: they are not. With CI_READERS=required they fail instead. */
export const skipWithoutPdfTools: string | false =
  missing.length && process.env.CI_READERS !== 'required'
    ? `${[...new Set(missing.map(([, from]) => from))].join(' and ')} (Debian) not installed`
    : false

const run = (name: keyof typeof PROGRAMS, words: string[]): string =>
  execFileSync(`/usr/bin/${name}`, words, { encoding: 'utf8', timeout: TIME_MS_MAX, stdio: ['ignore', 'pipe', 'ignore'] })

/** Each is read when it is asked for: each program that reads costs as much as drawing a page. */
export interface ReadPdf {
  /** The text of each page, laid out as on paper. */
  pages: string[]
  text: string
  /** Width and height in points. */
  size: string
  properties: string
  /** The names of the elements of the structure, from the first to the last. */
  structure: string[]
  fonts: { name: string; embedded: boolean }[]
  /** The language of the document; empty if it says none. */
  language: string
  /** `CODE-128:…` on a page, printed at so many dots an inch. */
  barcodes(page: number, dots: number): string[]
}

export function readPdf(bytes: Uint8Array): ReadPdf {
  const withTempFile = <R>(read: (file: string, folder: string) => R): R => {
    const folder = mkdtempSync(join(tmpdir(), 'pdf-'))
    try {
      writeFileSync(join(folder, 'a.pdf'), bytes)
      return read(join(folder, 'a.pdf'), folder)
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  }
  const pages = once(() => withTempFile((file) => run('pdftotext', ['-layout', file, '-']).split('\f').slice(0, -1)))
  const properties = once(() => withTempFile((file) => run('pdfinfo', [file])))
  return {
    get pages() {
      return pages()
    },
    get text() {
      return pages().join('\n')
    },
    get size() {
      return /Page size: +(\S+ x \S+) pts/.exec(properties())?.[1] ?? ''
    },
    get properties() {
      return properties()
    },
    get structure() {
      return withTempFile((file) => run('pdfinfo', ['-struct', file]))
        .split('\n')
        .flatMap((line) => /^ *([A-Z][A-Za-z0-9]*)(?: |:|$)/.exec(line)?.[1] ?? [])
    },
    get fonts() {
      return withTempFile((file) => run('pdffonts', [file]))
        .split('\n')
        .slice(2)
        .filter(Boolean)
        .map((line) => ({ name: line.split(' ')[0]!, embedded: / yes (yes|no) (yes|no) +\d/.test(line) }))
    },
    get language() {
      return /\/Lang \((.*?)\)/.exec(Buffer.from(bytes).toString('latin1'))?.[1] ?? ''
    },
    barcodes: (page, dots) =>
      withTempFile((file, folder) => {
        run('pdftoppm', ['-gray', '-r', String(dots), '-f', String(page), '-l', String(page), file, join(folder, 'page')])
        const picture = readdirSync(folder).find((name) => name.endsWith('.pgm'))!
        return run('zbarimg', ['-q', join(folder, picture)])
          .trim()
          .split('\n')
      }),
  }
}

function once<R>(read: () => R): () => R {
  let known: { value: R } | undefined
  return () => (known ??= { value: read() }).value
}

/** The PDF in a successful reply. */
export function readPdfReply(reply: Reply): ReadPdf {
  assert.equal(reply.status, 200)
  assert.equal(reply.headers.get('content-type'), 'application/pdf')
  return readPdf(reply.body as Uint8Array)
}
