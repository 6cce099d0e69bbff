// Pages of a PDF as pixels.
import { createCanvas, type Canvas } from '@napi-rs/canvas'
import { getDocument } from 'pdfjs-dist/legacy/build/pdf.mjs'
import { standardFonts } from '../compose/measure.ts'

type RenderParameters = Parameters<
  Awaited<ReturnType<Awaited<ReturnType<typeof getDocument>['promise']>['getPage']>>['render']
>[0]

/** Draws each page at a resolution, on white. */
export async function renderPages(pdf: Uint8Array, dpi: number): Promise<Canvas[]> {
  const task = getDocument({ data: new Uint8Array(pdf), standardFontDataUrl: standardFonts, verbosity: 0 })
  const document = await task.promise
  const canvases: Canvas[] = []
  for (let number = 1; number <= document.numPages; number++) {
    const page = await document.getPage(number)
    const viewport = page.getViewport({ scale: dpi / 72 })
    const canvas = createCanvas(Math.round(viewport.width), Math.round(viewport.height))
    const context = canvas.getContext('2d')
    context.fillStyle = '#ffffff'
    context.fillRect(0, 0, canvas.width, canvas.height)
    // pdfjs is typed for the canvas of browsers.
    await page.render({ canvas: null, canvasContext: context, viewport } as unknown as RenderParameters).promise
    canvases.push(canvas)
  }
  await task.destroy()
  return canvases
}
