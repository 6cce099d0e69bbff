// Pages as people meet them in a real browser: they fit the screen, and axe-core finds nothing that keeps anybody from using them.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { keepScreenshot, type Page } from './browser.ts'

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
const SCHEMES = [
  ['dark', COLORS],
  ['light', VIOLATIONS],
] as const
/** Of a computer beside which a phone is held. */
const WIDE = 1280

/**
 * The page fits its screen, and axe finds nothing in it, light and dark. Keeps a picture of either, and one on a wide screen.
 * @param allowedRules ids of rules that axe may find broken
 */
export async function assertSound(page: Page, name: string, allowedRules: string[] = []): Promise<void> {
  await page.waitForLoadState()
  const { width, height } = page.viewportSize()!
  if (width < WIDE) {
    await page.setViewportSize({ width: WIDE, height })
    await keepScreenshot(page, `${name} wide`)
    await page.setViewportSize({ width, height })
  }
  const needed = await page.evaluate<number>('document.documentElement.scrollWidth')
  assert(needed <= width, `${name} is ${needed} pixels wide`)
  await page.evaluate(`${AXE}; true`)
  for (const [colorScheme, options] of SCHEMES) {
    await page.emulateMedia({ colorScheme })
    await keepScreenshot(page, `${name} ${colorScheme}`)
    const found = await page.evaluate<Violation[]>(
      `axe.run(${JSON.stringify(options)}).then(({ violations }) => violations.map(({ id, impact, nodes }) => ({ id, impact, nodes: nodes.map(({ html }) => html) })))`,
    )
    assert.deepEqual(
      found.filter(({ id }) => !allowedRules.includes(id)),
      [],
      name,
    )
  }
}

/**
 * What axe finds that keeps people from using the page in its color scheme.
 * @param looksAtColorsOnly where the rest of the page has been looked at in the other scheme
 */
export async function axeViolations(page: Pick<Page, 'evaluate'>, looksAtColorsOnly = false): Promise<Violation[]> {
  if (!(await page.evaluate<boolean>("'axe' in window"))) await page.evaluate(`${AXE}; true`)
  const violations = await page.evaluate<Violation[]>(
    `axe.run(${JSON.stringify(looksAtColorsOnly ? COLORS : VIOLATIONS)}).then(({ violations }) => violations.map(({ id, impact, nodes }) => ({ id, impact, nodes: nodes.map(({ html }) => html) })))`,
  )
  return violations.filter(({ impact }) => impact === 'serious' || impact === 'critical')
}
