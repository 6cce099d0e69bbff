// Accessibility of pages, found by axe-core in a real browser.
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Page } from './browser.ts'

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

interface Violation {
  id: string
  impact: string
  nodes: string[]
}

/** Without the paths and lists of all that is right, which take most of the time on a large page. */
const VIOLATIONS = { resultTypes: ['violations'], selectors: false }
/** The rules that look at colors, which alone differ between the schemes. */
const COLORS = { ...VIOLATIONS, runOnly: ['color-contrast', 'link-in-text-block'] }

/** What axe finds in the page, light and dark. */
export async function violations(page: Page): Promise<Violation[]> {
  await page.value(`${AXE}; true`)
  const found: Violation[] = []
  for (const [scheme, options] of [
    ['dark', COLORS],
    ['light', VIOLATIONS],
  ] as const) {
    await page.inScheme(scheme)
    found.push(
      ...(await page.value<Violation[]>(
        `axe.run(${JSON.stringify(options)}).then(({ violations }) => violations.map(({ id, impact, nodes }) => ({ id, impact, nodes: nodes.map(({ html }) => html) })))`,
      )),
    )
  }
  return found
}
