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

/** What axe finds in the page, light and dark. */
export async function violations(page: Page): Promise<Violation[]> {
  await page.value(`${AXE}; true`)
  const found: Violation[] = []
  for (const scheme of ['dark', 'light'] as const) {
    await page.inScheme(scheme)
    found.push(
      ...(await page.value<Violation[]>(
        `axe.run().then(({ violations }) => violations.map(({ id, impact, nodes }) => ({ id, impact, nodes: nodes.map(({ html }) => html) })))`,
      )),
    )
  }
  return found
}
