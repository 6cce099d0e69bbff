import type { Module } from '../module/module.ts'

export const pdf: Module = {
  name: 'platform/pdf',
  about: 'page, text, tables, barcodes; not the content of a document',
}
