/**
 * Fills in the form CMS-R-131 of the operator, a PDF with fields. Only threads that draw run it. What the patient fills in, the option, the
 * signature and the date, stays empty.
 */
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { PDFDocumentProxy } from 'pdfjs-dist/types/src/display/api.js'
import type { Abn } from './abn-page.ts'

/** What is filled in, by the letters of the form: A, B, C, D, E, F. */
export const abnParts = ['notifier', 'patient', 'identification', 'tests', 'reasons', 'costs'] as const
type AbnPart = (typeof abnParts)[number]

/** The operator's form. */
export interface AbnForm {
  file: string
  /** The names of its fields, where they are not those of the parts. */
  fields: Partial<Record<AbnPart, string>>
}

interface FormField {
  id: string
  type: string
}

const FONTS = fileURLToPath(new URL('standard_fonts/', import.meta.resolve('pdfjs-dist/package.json')))

/** Errors: Error with what is wrong with the form. */
async function openForm({ file, fields }: AbnForm): Promise<{ document: PDFDocumentProxy; ids: Record<AbnPart, string[]> }> {
  let data: Uint8Array
  try {
    data = new Uint8Array(readFileSync(file))
  } catch (error) {
    throw new Error(`ABN_FORM names ${file}, which cannot be read (${(error as NodeJS.ErrnoException).code}).`)
  }
  // Half a second of a processor, and most servers have no such form.
  const { getDocument } = await import('pdfjs-dist/legacy/build/pdf.mjs')
  const loading = getDocument({ data, verbosity: 0, standardFontDataUrl: FONTS })
  const document = await loading.promise.catch(() => {
    throw new Error(`ABN_FORM names ${file}, which is not a PDF that can be read.`)
  })
  const found = ((await document.getFieldObjects()) ?? new Map()) as unknown as Map<string, FormField[]>
  const ids = Object.fromEntries(
    abnParts.map((part) => {
      const name = fields[part] ?? part
      const texts = (found.get(name) ?? []).filter(({ id, type }) => id && type === 'text')
      return [part, texts.map(({ id }) => id)]
    }),
  ) as Record<AbnPart, string[]>
  const missing = abnParts.filter((part) => ids[part].length === 0).map((part) => fields[part] ?? part)
  if (missing.length) {
    await document.loadingTask.destroy()
    const known = [...found.keys()].slice(0, 50).join(', ') || 'none'
    throw new Error(
      `The form of ABN_FORM has no text field called ${missing.join(', ')}; its fields are: ${known}. ABN_FORM_FIELDS says which are meant.`,
    )
  }
  return { document, ids }
}

/** Checks that the form can be filled in. Errors: Error with what is wrong with it. */
export async function checkAbnForm(form: AbnForm): Promise<true> {
  const { document } = await openForm(form)
  await document.loadingTask.destroy()
  return true
}

/** The form with what is known of an order filled in. Errors: Error with what is wrong with the form. */
export async function fillAbnForm({ form, notice }: { form: AbnForm; notice: Abn }): Promise<Uint8Array> {
  const { document, ids } = await openForm(form)
  try {
    const { lab, patient, identification, items } = notice
    const values: Record<AbnPart, string> = {
      notifier: `${lab.name}, ${lab.address}`,
      patient,
      identification,
      tests: items.map(({ test }) => test).join('\n'),
      reasons: [...new Set(items.map(({ reason }) => reason))].join('\n'),
      costs: items.map(({ cost }) => cost).join('\n'),
    }
    for (const part of abnParts) for (const id of ids[part]) document.annotationStorage.setValue(id, { value: values[part] })
    return await document.saveDocument()
  } finally {
    await document.loadingTask.destroy()
  }
}
