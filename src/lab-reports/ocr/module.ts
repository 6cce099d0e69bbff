import type { Module } from '../../platform/module/module.ts'

export const ocr: Module = {
  name: 'lab-reports/ocr',
  about: 'the words of pictures of pages: upright, straight, recognized',
}
