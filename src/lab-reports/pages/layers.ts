// The canvases that pdf.js makes in addition to that of the page: for soft masks, groups, patterns and pictures. Their pixels are outside V8, which
// does not know of them, and what is drawn of a canvas stays in memory until the page is complete.
import { createCanvas, type Canvas, type SKRSContext2D } from '@napi-rs/canvas'
import type { PDFPageProxy } from 'pdfjs-dist/types/src/display/api.js'

/** Pixels of the layers of a page: 256 MB, or 17 layers of the size of a page. Reports of laboratories have none or a few. */
const LAYER_PIXELS_MAX = 64_000_000

/** A page whose layers would have more pixels than a page may have. */
export class TooManyLayers extends Error {
  override name = 'TooManyLayers'
}

interface Layer {
  canvas: Canvas | null
  context: SKRSContext2D | null
}

/** The factory of canvases of a document, by the interface of pdf.js. It counts what is asked for and refuses what is too much. */
export class Layers {
  #left = LAYER_PIXELS_MAX
  #refused = false

  /** Draws a page, with the pixels of one. Errors: `TooManyLayers`, also where pdf.js draws on without the layer; those of `draw`. */
  async draw(draw: () => Promise<void>): Promise<void> {
    this.#left = LAYER_PIXELS_MAX
    this.#refused = false
    await draw().catch((error: unknown) => {
      if (!this.#refused) throw error
    })
    if (this.#refused) throw new TooManyLayers(`the layers of a page have more than ${LAYER_PIXELS_MAX} pixels`)
  }

  create(width: number, height: number): Layer {
    const canvas = createCanvas(...this.#count(width, height))
    return { canvas, context: canvas.getContext('2d') }
  }

  reset({ canvas }: Layer, width: number, height: number): void {
    const size = this.#count(width, height)
    if (canvas) [canvas.width, canvas.height] = size
  }

  destroy(layer: Layer): void {
    if (layer.canvas) layer.canvas.width = layer.canvas.height = 0
    layer.canvas = layer.context = null
  }

  getNoAlphaContext(canvas: Canvas): SKRSContext2D {
    return canvas.getContext('2d', { alpha: false })
  }

  /** Whole pixels, since a canvas rounds. */
  #count(width: number, height: number): [width: number, height: number] {
    const size: [number, number] = [Math.ceil(width), Math.ceil(height)]
    if (!(size[0] > 0 && size[1] > 0)) throw new Error('a canvas has at least one pixel')
    this.#left -= size[0] * size[1]
    if (this.#left >= 0) return size
    this.#refused = true
    throw new TooManyLayers('a layer is too large')
  }
}

/** The factory of the document of a page. Errors: the document was opened without one. */
export function layersOf(page: PDFPageProxy): Layers {
  const { canvasFactory } = (page as unknown as { _transport: { canvasFactory?: unknown } })._transport
  if (canvasFactory instanceof Layers) return canvasFactory
  throw new Error('the document was opened without a limit of its layers')
}

/** Has V8 drop canvases and pictures that nothing refers to: it does not know how large they are. Only child processes can. */
export const collectPixels = (): void => (globalThis as { gc?: () => void }).gc?.()
