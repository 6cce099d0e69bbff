// The networks of the text recognition alone on pages as they are: what reading a scan takes at least.
import { parentPort, workerData } from 'node:worker_threads'
import { engine } from '../src/lab-reports/ocr/engine.ts'
import { pictureOf } from '../src/lab-reports/ocr/picture.ts'
import { levelBox } from '../src/lab-reports/ocr/read-picture.ts'
import { detect, cutLine } from '../src/lab-reports/ocr/text-boxes.ts'
import { withDocument } from '../src/lab-reports/pages/pdf.ts'
import { drawPage } from '../src/lab-reports/pages/pictures.ts'

/** Pixels on the longer side of what the detector sees, as the parser has it. */
const DETECTED_SIDE = 1280

const ocr = await engine(undefined)
const picture = await withDocument(workerData as Uint8Array, async (document) =>
  pictureOf((await drawPage(await document.getPage(1))).canvas),
)

/** Reads the page as many times as it is asked to, and answers with the milliseconds. */
parentPort!.on('message', (pages: number) => void read(pages).then((ms) => parentPort!.postMessage(ms)))
await read(1)
parentPort!.postMessage('ready')

async function read(pages: number): Promise<number> {
  const started = performance.now()
  for (let page = 0; page < pages; page++)
    for (const box of await detect(ocr, picture, DETECTED_SIDE)) {
      const level = levelBox(box)
      if (level) await ocr.recognize(cutLine(picture, level).picture)
    }
  return performance.now() - started
}
