// What a scanner or a fax machine makes of a page.
import type { Canvas } from '@napi-rs/canvas'
import type { Random } from '../random.ts'
import { adjust, createNoise, resize, toJpeg, turn } from './pixels.ts'

/** How a whole document was scanned. */
export interface ScanSettings {
  dpi: number
  skewMax_degrees: number
  /** Standard deviation of brightness. */
  noise: number
  quality: number
  rotation: 0 | 90 | 180 | 270
  fax: 'standard' | 'fine' | undefined
  hasStains: boolean
}

export interface Scan {
  picture: Uint8Array
  isTurned: boolean
}

const FAX_DPI = { standard: [204, 98], fine: [204, 196] } as const

export function createScanSettings(random: Random): ScanSettings {
  const isFax = random.chance(0.2)
  return {
    dpi: isFax ? 204 : random.pick([150, 200, 200, 300]),
    skewMax_degrees: random.pick([0.3, 1, 2, 3]),
    noise: random.float(3, 16),
    quality: random.integer(45, 88),
    rotation: isFax || random.chance(0.75) ? 0 : random.pick([90, 180, 270]),
    fax: isFax ? random.pick(['standard', 'fine', 'fine']) : undefined,
    hasStains: random.chance(0.25),
  }
}

/** A page that was rendered at `settings.dpi`, as a JPEG. The pixels of a fax are not square. */
export function scanPage(page: Canvas, settings: ScanSettings, random: Random): Scan {
  if (settings.hasStains) drawStains(page, random)
  let scanned = turn(page, random.float(-settings.skewMax_degrees, settings.skewMax_degrees))
  const noise = createNoise(random)
  if (settings.fax) {
    const [, vertical] = FAX_DPI[settings.fax]
    scanned = resize(scanned, scanned.width, Math.round((scanned.height * vertical) / settings.dpi))
    drawFaxArtefacts(scanned, random)
    adjust(scanned, (luminance) => (luminance + noise() * 22 > 150 ? 255 : -255))
    return { picture: toJpeg(scanned, 90), isTurned: false }
  }
  const paper = random.integer(0, 14)
  const { width } = scanned
  adjust(scanned, (luminance, x) => {
    // Paper is not white, ink not black, and one side is darker.
    const ink = luminance < 128 ? 18 : -paper
    return ink - (x / width) * paper + noise() * settings.noise
  })
  if (settings.rotation) scanned = turn(scanned, settings.rotation)
  return { picture: toJpeg(scanned, settings.quality), isTurned: settings.rotation % 180 !== 0 }
}

function drawStains(page: Canvas, random: Random): void {
  const context = page.getContext('2d')
  for (let i = random.integer(1, 3); i > 0; i--) {
    const [x, y, radius] = [random.float(0, page.width), random.float(0, page.height), page.width * random.float(0.04, 0.12)]
    context.strokeStyle = 'rgba(150, 105, 50, 0.28)'
    context.lineWidth = radius * 0.14
    context.beginPath()
    context.arc(x, y, radius, 0, 2 * Math.PI)
    context.stroke()
    context.fillStyle = 'rgba(160, 120, 70, 0.1)'
    context.fill()
  }
  // A fold.
  context.fillStyle = 'rgba(90, 90, 90, 0.22)'
  context.fillRect(0, page.height * random.float(0.3, 0.7), page.width, 2)
}

/** The line of the sender, and lines of a dirty sensor. */
function drawFaxArtefacts(page: Canvas, random: Random): void {
  const context = page.getContext('2d')
  context.fillStyle = '#000000'
  context.font = `${Math.round(page.height * 0.011)}px monospace`
  context.fillText(`FAX 555-01${random.integer(10, 99)}   P. ${random.integer(1, 9)}`, page.width * 0.05, page.height * 0.018)
  for (let i = random.integer(0, 2); i > 0; i--) context.fillRect(Math.round(random.float(0, page.width)), 0, 1, page.height)
}
