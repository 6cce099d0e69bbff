// Every printed report of the corpus: what `print.ts` wrote into `data/`, and the reports of which the files alone are stored.
import { readFileSync } from 'node:fs'
import type { Truth } from '../truth.ts'
import { storedNames, printedNames } from './names.ts'

export interface Printed {
  name: string
  /** Of its pages, in points. */
  width: number
  height: number
  truth: Truth
  pdf: Uint8Array
}

const dataOf = (file: string): Buffer => readFileSync(new URL(`data/${file}`, import.meta.url))

export const printedDocuments: readonly Printed[] = [...printedNames, ...storedNames].map((name) => {
  const { width, height, truth } = JSON.parse(dataOf(`${name}.json`).toString()) as Omit<Printed, 'name' | 'pdf'>
  return { name, width, height, truth, pdf: dataOf(`${name}.pdf`) }
})
