/** Blocks of a document, and which block is on which page. */
import { pageSize, type Container, type PdfCanvas } from './canvas.ts'

/** Blocks that stay together on one page. `repeat` is drawn above it if it opens a page; `holds_next`: never last on a page. */
export interface Block {
  height: number
  draw(y: number): void
  repeat?: Block
  holds_next?: boolean
  /** The element of the structure that the block belongs to, together with others. */
  container?: Container
}

interface PlacedBlock {
  block: Block
  y: number
  /** Drawn again for the eye: reading programs have met it already. */
  runningHeader?: true
}

/** Each page as blocks with their heights. A block taller than a whole page gets one for itself. */
function paginate(blocks: Block[], first: number, top: number, bottom: number): PlacedBlock[][] {
  let page: PlacedBlock[] = []
  const pages = [page]
  let y = first
  for (const [index, block] of blocks.entries()) {
    let needed = block.height
    for (let next = index; blocks[next]!.holds_next && blocks[next + 1]; next++) needed += blocks[next + 1]!.height
    if (y + needed > bottom && page.length > 0) {
      pages.push((page = []))
      y = top
      if (block.repeat) {
        page.push({ block: block.repeat, y, runningHeader: true })
        y += block.repeat.height
      }
    }
    page.push({ block, y })
    y += block.height
  }
  return pages
}

/** Draws blocks on as many pages as they need, with a footer on each and a header on those after the first, and ends the document. */
export function renderPages(
  canvas: PdfCanvas,
  blocks: Block[],
  header: { height: number; draw: () => void },
  drawFooter: (page: string) => void,
): Promise<Uint8Array> {
  const pages = paginate(blocks, pageSize.top, pageSize.top + header.height, canvas.bottom)
  for (const [index, page] of pages.entries()) {
    canvas.page()
    if (index > 0) canvas.decorate(header.draw)
    for (const { block, y, runningHeader } of page) {
      if (runningHeader) canvas.decorate(() => block.draw(y))
      else canvas.fill(block.container, () => block.draw(y))
    }
    canvas.decorate(() => drawFooter(`Page ${index + 1} of ${pages.length}`))
  }
  return canvas.end()
}
