import type { Module } from '../../platform/module/module.ts'

export const texts: Module = {
  name: 'lab-reports/texts',
  about: 'what texts of a report say by themselves: dates, labels, names, antibiotics, the patient',
}
