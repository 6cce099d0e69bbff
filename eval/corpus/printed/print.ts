// Prints the reports of this folder into `data/`: `npm run eval:print [NAME...]`. Needs `chromium` and `soffice`; tests and `npm run eval` read
// what it wrote.
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isHeldOut } from '../layouts/held-out.ts'
import { toHtml } from './html.ts'
import { PAGE_SIZES } from './model.ts'
import { toSpreadsheet, toText } from './open-document.ts'
import { printedNames } from './names.ts'
import { composeSheet, type ComposedSheet } from './sheet.ts'

const data = new URL('data/', import.meta.url)
const BYTES_MAX = 60_000

const folder = mkdtempSync(join(tmpdir(), 'printed-'))
try {
  mkdirSync(data, { recursive: true })
  const wanted = process.argv.slice(2)
  for (const name of printedNames.filter((printedName) => wanted.length === 0 || wanted.includes(printedName))) print(name)
} finally {
  rmSync(folder, { recursive: true, force: true })
}

function print(name: string): void {
  const sheet = composeSheet(name, isHeldOut({ name }))
  const pdf = !/^(?:writer|calc)/u.test(name) ? printWithBrowser(name, sheet) : printWithOffice(name, sheet)
  if (pdf.length > BYTES_MAX) throw new Error(`${name} has ${pdf.length} bytes`)
  const [short, long] = PAGE_SIZES[sheet.look.page]
  const [width, height] = sheet.look.isLandscape ? [long, short] : [short, long]
  writeFileSync(new URL(`${name}.pdf`, data), pdf)
  writeFileSync(new URL(`${name}.json`, data), `${JSON.stringify({ width, height, truth: sheet.truth })}\n`)
  console.log(`${name}: ${sheet.truth.results.length} results, ${pdf.length} bytes`)
}

function printWithBrowser(name: string, sheet: ComposedSheet): Buffer {
  const [page, pdf] = [join(folder, `${name}.html`), join(folder, `${name}.pdf`)]
  writeFileSync(page, toHtml(sheet))
  execFileSync(
    'chromium',
    [
      '--headless',
      '--no-sandbox',
      '--disable-gpu',
      `--user-data-dir=${join(folder, 'browser')}`,
      '--no-pdf-header-footer',
      // Tags double the size of a file, and are no part of its text.
      '--disable-pdf-tagging',
      `--print-to-pdf=${pdf}`,
      `file://${page}`,
    ],
    { stdio: 'ignore', timeout: 60_000 },
  )
  return readFileSync(pdf)
}

function printWithOffice(name: string, sheet: ComposedSheet): Buffer {
  const isText = name.startsWith('writer')
  const source = join(folder, `${name}.${isText ? 'fodt' : 'fods'}`)
  writeFileSync(source, isText ? toText(sheet) : toSpreadsheet(sheet))
  const settings = `-env:UserInstallation=file://${join(folder, 'office')}`
  execFileSync('soffice', [settings, '--headless', '--convert-to', 'pdf', '--outdir', folder, source], {
    stdio: 'ignore',
    timeout: 120_000,
  })
  return readFileSync(join(folder, `${name}.pdf`))
}
