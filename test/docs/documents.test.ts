// The limits of documents, and their links.
import assert from 'node:assert/strict'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, test } from 'node:test'

const DECISION_WORDS_MAX = 550
/** Maximum words of decisions and reference together. */
const WORDS_MAX = 22_000
const README_WORDS_MAX = 1200
/** Maximum words of all documents, as `wc -w` counts them: README.md, CONTRIBUTING.md and docs/, with most generated pages. */
const ALL_WORDS_MAX = 60_000
const HEADINGS = ['Context', 'Decision', 'Rejected alternatives', 'Consequences']
/** Generated from a schema of the program, and as long as that. */
const GENERATED = new Set(['docs/reference/lab-profile.md'])
/** A list, with a sentence for each package. */
const LISTS = ['docs/decisions/dependencies.md']

const read = (path: string) => readFileSync(path, 'utf8')
const words = (path: string) => read(path).match(/\S*[\p{L}\p{N}]\S*/gu)?.length ?? 0
const prose = (path: string) => read(path).replaceAll(/^ *```[\s\S]*?^ *```/gm, '')

const decisions = globSync('docs/decisions/*.md').sort()

describe('a decision', () => {
  for (const path of decisions.filter((path) => !LISTS.includes(path)))
    test(`${path} has four sections on one page`, () => {
      const headings = [...prose(path).matchAll(/^## (.+)$/gm)].map(([, heading]) => heading)
      assert.deepEqual(headings, HEADINGS)
      assert(words(path) <= DECISION_WORDS_MAX, `${words(path)} words, at most ${DECISION_WORDS_MAX}`)
    })
})

test('decisions and reference stay short', () => {
  const pages = [...decisions, ...globSync('docs/reference/*.md').filter((path) => !GENERATED.has(path))]
  const all = pages.reduce((sum, path) => sum + words(path), 0)
  assert(all <= WORDS_MAX, `${all} words, at most ${WORDS_MAX}`)
})

test('README stays short', () => {
  const all = words('README.md')
  assert(all <= README_WORDS_MAX, `${all} words, at most ${README_WORDS_MAX}`)
})

test('all documents together stay short', () => {
  const pages = globSync('{README.md,CONTRIBUTING.md,docs/**/*.md}').filter((path) => !GENERATED.has(path))
  const all = pages.reduce((sum, path) => sum + read(path).split(/\s+/).filter(Boolean).length, 0)
  assert(all <= ALL_WORDS_MAX, `${all} words, at most ${ALL_WORDS_MAX}`)
})

test('links between documents lead to a file and a heading', () => {
  const pages = globSync('{*,bench/*,docs/**/*}.md').filter((path) => path !== 'CHANGELOG.md')
  const broken = pages.flatMap((path) =>
    [...prose(path).matchAll(/\]\((?!https?:|mailto:)([^)\s]*)\)/g)].flatMap(([, href]) => {
      const [file, fragment] = href!.split('#')
      const target = file ? join(dirname(path), file) : path
      if (!existsSync(target)) return [`${path}: ${href}`]
      return fragment === undefined || anchors(target).has(fragment) ? [] : [`${path}: ${href}`]
    }),
  )
  assert.deepEqual(broken, [])
})

test('comments that name a document name one that exists', () => {
  const files = globSync('{src,test,bench,scripts,migrations}/**/*.{ts,js,mjs,sql}')
  const broken = files.flatMap((path) =>
    [...read(path).matchAll(/(?:\/\/|^ *\*|--).*?\b((?:docs|bench)\/[\w./-]+\.md)\b/gm)].flatMap(([, name]) =>
      existsSync(name!) ? [] : [`${path}: ${name}`],
    ),
  )
  assert.deepEqual(broken, [])
})

test('docs/SECURITY.md names tests that exist for each attacker', () => {
  const text = read('docs/SECURITY.md')
  const tests = globSync('{src,test}/**/*.test.ts')
  const files = new Set([...text.matchAll(/`([\w./-]+\.test\.ts)`/g)].map(([, name]) => name!))
  const titles = [...text.matchAll(/\.test\.ts`: "([^"]+)"/g)].map(([, title]) => title!.replace(/…$/, ''))
  assert(files.size >= 15 && titles.length >= 8, `${files.size} files and ${titles.length} titles`)
  assert.deepEqual(
    [...files].filter((name) => !tests.some((path) => path === name || path.endsWith(`/${name}`))),
    [],
  )
  const code = tests.map(read).join('\n')
  assert.deepEqual(
    titles.filter((title) => !code.includes(title)),
    [],
  )
})

/** The anchors of a page, as GitHub makes them. */
function anchors(path: string): Set<string> {
  const headings = [...prose(path).matchAll(/^#+ (.+)$/gm)].map(([, heading]) =>
    heading!
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(/\s/g, '-'),
  )
  return new Set(headings)
}
