import type { Module } from '../module/module.ts'

export const files: Module = {
  name: 'platform/files',
  about: "CSV, and what is refused of an operator's file",
}
