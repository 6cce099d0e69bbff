// Evaluates the parser of laboratory reports on the generated corpus. Prints figures; asserts nothing. See eval/README.md.
import { existsSync, globSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { pathToFileURL } from 'node:url'
import { kinds, type Kind } from './corpus/kinds.ts'
import { layouts } from './corpus/layouts/all.ts'
import { printedDocuments } from './corpus/printed/all.ts'
import { writtenDocuments } from './corpus/written/all.ts'
import { isHeldOut } from './corpus/layouts/held-out.ts'
import { evaluate, type Reader } from './evaluate.ts'
import { printFailures, printTable, toJson } from './report.ts'

const USAGE = `Usage: npm run eval -- [options]
  --kind KIND     ${kinds.join(', ')}; may be repeated; default: all
  --layout NAME   layouts whose name contains NAME; may be repeated
  --held-out      layouts that are held out; default: those that are not
  --all           layouts of both kinds
  --limit N       documents for each layout and kind, default 1
  --seed N        seed of the first of them, default 1
  --json          print JSON
  --keep DIR      write the documents and their truth into DIR
  --failures      print missed, false and differing rows of each document
  --reader FILE   module that exports readReport, default src/lab-reports/reading/read-report.ts`

const { values } = parseArgs({
  options: {
    kind: { type: 'string', multiple: true },
    layout: { type: 'string', multiple: true },
    'held-out': { type: 'boolean', default: false },
    all: { type: 'boolean', default: false },
    limit: { type: 'string', default: '1' },
    seed: { type: 'string', default: '1' },
    json: { type: 'boolean', default: false },
    keep: { type: 'string' },
    failures: { type: 'boolean', default: false },
    reader: { type: 'string', default: 'src/lab-reports/reading/read-report.ts' },
    help: { type: 'boolean', default: false },
  },
})

function fail(message: string): never {
  console.error(`${message}\n\n${USAGE}`)
  process.exit(2)
}

const wholeNumber = (option: 'limit' | 'seed'): number => {
  const number = Number(values[option])
  return Number.isSafeInteger(number) && number > 0 ? number : fail(`--${option} must be a positive whole number.`)
}

function chosenKinds(): readonly Kind[] {
  return values.kind?.map((name) => kinds.find((kind) => kind === name) ?? fail(`Kind ${name} does not exist.`)) ?? kinds
}

function chosenLayouts() {
  const all = [...layouts, ...writtenDocuments, ...printedDocuments]
  const among = values.all ? all : all.filter((layout) => isHeldOut(layout) === values['held-out'])
  const named = values.layout
  return named ? among.filter(({ name }) => named.some((part) => name.includes(part))) : among
}

async function loadReader(): Promise<Reader> {
  const file = resolve(values.reader)
  if (!existsSync(file)) fail(`The parser ${values.reader} does not exist.`)
  const { readReport } = (await import(pathToFileURL(file).href)) as { readReport?: Reader }
  return readReport ?? fail(`${values.reader} does not export readReport.`)
}

/** LOINC codes at the start of lines of the shipped table. All codes if there is no table. */
function shippedCodes(): (code: string) => boolean {
  const files = globSync('src/lab-reports/loinc/**/*.{tsv,csv}')
  const codes = new Set(
    files.flatMap((file) => [...readFileSync(file, 'utf8').matchAll(/^"?(\d{1,7}-\d)(?="?[\t,])/gm)].map(([, code]) => code!)),
  )
  if (codes.size === 0) console.error('The repository has no table of LOINC codes: every row counts for LOINC.')
  return codes.size ? (code) => codes.has(code) : () => true
}

if (values.help) {
  console.log(USAGE)
  process.exit(0)
}
const chosen = chosenLayouts()
if (chosen.length === 0) fail('No layout has such a name among those that are chosen: --held-out or --all chooses others.')
const evaluation = await evaluate(await loadReader(), {
  layouts: chosen,
  kinds: chosenKinds(),
  seed: wholeNumber('seed'),
  limit: wholeNumber('limit'),
  isInTable: shippedCodes(),
  keepIn: values.keep,
  onDocument: (name, comparison, error) => {
    const text = values.failures || error ? printFailures(name, comparison, error) : ''
    if (text) console.error(text)
  },
})
console.log(values.json ? JSON.stringify(toJson(evaluation), null, 2) : printTable(evaluation))
