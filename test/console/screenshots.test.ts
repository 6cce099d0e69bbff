// The pictures of the console in the documents. `npm run screenshots` takes them again; every run takes them and keeps none.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { globSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { test } from 'node:test'
import { createCanvas, loadImage } from '@napi-rs/canvas'
import { eventually } from '../support/eventually.ts'
import { address, patient } from '../support/people.ts'
import type { Caller } from '../support/program.ts'
import { inBrowser, openConsole, type ConsoleVisit } from './console.ts'
import { manage, startReceiver } from './receiver.ts'

const IMAGES = 'docs/images'
const IMAGE_BYTES_MAX = 60_000
const ALL_IMAGES_BYTES_MAX = 2_000_000
/** Of 100: text stays sharp. */
const WEBP_QUALITY = 75
const WIDTH = 1280
const DAY_S = 86_400

const PATIENTS = [
  { first_name: 'Testa', last_name: 'Fictional', gender: 'female' },
  { first_name: 'Exemplar', last_name: 'Sample', gender: 'male' },
  { first_name: 'Demo', last_name: 'Placeholder', gender: 'female' },
]

test('each image of docs/images is small and named by a document', () => {
  const documents = globSync('{README.md,docs/**/*.md}').map((path) => readFileSync(path, 'utf8'))
  const images = globSync(`${IMAGES}/*`)
  const sizes = images.map((path) => statSync(path).size)
  assert(images.length > 0)
  assert.deepEqual(
    images.filter((path) => !documents.some((text) => text.includes(`images/${basename(path)})`))),
    [],
    'no document names them',
  )
  assert.deepEqual(
    images.filter((_, index) => sizes[index]! > IMAGE_BYTES_MAX),
    [],
    `more than ${IMAGE_BYTES_MAX} bytes`,
  )
  assert(sizes.reduce((sum, size) => sum + size, 0) <= ALL_IMAGES_BYTES_MAX)
})

test('the pages of the documents are shown with fictional orders, and their pictures are small', inBrowser, async () => {
  const visited = await openConsole()
  const { page, api } = visited
  await page.emulateMedia({ colorScheme: 'light', reducedMotion: 'reduce' })
  await page.locator('html[data-mantine-color-scheme=light]').waitFor()
  const open = async (path: string, height: number): Promise<void> => {
    await page.setViewportSize({ width: WIDTH, height })
    await visited.open(path)
  }
  await manage(visited, 'POST', '/webhook', { url: (await startReceiver()).url })
  const orders = await placeOrders(api)
  await api.post('/v3/order', {})

  await open('', 830)
  await page.getByRole('figure').filter({ hasText: 'Completed 2' }).waitFor()
  await page.getByText('Receive the first signed event, done').waitFor()
  await page.getByText('Nothing needs attention').waitFor()
  await keepImage(visited, 'console-overview')

  await open(`orders/${orders[0]}`, 1060)
  await page.getByRole('table', { name: 'Results' }).waitFor()
  await page.getByText('delivered 1/1').first().waitFor()
  await keepImage(visited, 'console-order')

  await open('events', 900)
  await page.getByText('delivered 1/1').first().waitFor()
  await page.locator('[data-row-link]').first().click()
  await page.getByRole('button', { name: /^200/ }).click()
  await page.getByText(/-signature: v1,/).waitFor()
  await keepImage(visited, 'console-event')

  await open('requests', 800)
  await page.getByRole('table', { name: 'Requests' }).getByText('create_order').first().waitFor()
  await keepImage(visited, 'console-requests')
})

/** Places an order a day for each patient and collection method; the first two have their results. → ids */
async function placeOrders({ get, post }: Caller): Promise<string[]> {
  const ids: string[] = []
  for (const method of ['walk_in_test', 'testkit'])
    for (const person of PATIENTS) {
      const [labTest] = (await get(`/v3/lab_tests?collection_method=${method}`)).body as { id: string }[]
      const user = await post('/v2/user', { client_user_id: `clinic-${randomUUID()}` })
      const order = await post('/v3/order', {
        user_id: user.body.user_id,
        lab_test_id: labTest!.id,
        patient_details: { ...patient, ...person },
        patient_address: { ...address, country: 'US' },
      })
      assert.equal(order.status, 200, JSON.stringify(order.body))
      ids.push(order.body.order.id)
      assert.equal((await post('/v1/sandbox/clock/advance', { seconds: DAY_S })).status, 200)
    }
  for (const id of ids.slice(0, 2)) {
    assert.equal((await post(`/v3/order/${id}/test`)).status, 200)
    await eventually(
      async () => (await get(`/v3/order/${id}`)).body.status === 'completed' || undefined,
      'the order is completed',
    )
  }
  return ids
}

/** Checks that what the page shows makes a small image; with SCREENSHOTS it becomes that of the documents. */
async function keepImage({ page }: ConsoleVisit, name: string): Promise<void> {
  const picture = await loadImage(await page.screenshot())
  const canvas = createCanvas(picture.width, picture.height)
  canvas.getContext('2d').drawImage(picture, 0, 0)
  const image = canvas.toBuffer('image/webp', WEBP_QUALITY)
  assert(image.length <= IMAGE_BYTES_MAX, `${name} has ${image.length} bytes`)
  if (process.env.SCREENSHOTS) writeFileSync(join(IMAGES, `${name}.webp`), image)
}
