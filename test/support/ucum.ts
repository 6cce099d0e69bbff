// Units of UCUM, by the package of the National Library of Medicine: it has no types.
import { createRequire } from 'node:module'

interface Ucum {
  validateUnitString(unit: string): { status: 'valid' | 'invalid' | 'error'; ucumCode: string | null }
  convertUnitTo(
    source: string,
    value: number,
    target: string,
    options?: { molecularWeight?: number },
  ): { status: 'succeeded' | 'failed' | 'error'; toVal: number | null; msg: string[] }
}
const { UcumLhcUtils } = createRequire(import.meta.url)('@lhncbc/ucum-lhc') as { UcumLhcUtils: { getInstance(): Ucum } }
const ucum = UcumLhcUtils.getInstance()

/** Whether a text is a unit of UCUM, as it stands. */
export function isUcum(unit: string): boolean {
  const { status, ucumCode } = ucum.validateUnitString(unit)
  return status === 'valid' && ucumCode === unit
}

/** A value in another unit. Errors: units that are not known or measure different things. @param molecularWeight for masses and moles */
export function convertUnits(value: number, source: string, target: string, molecularWeight?: number): number {
  const { status, toVal, msg } = ucum.convertUnitTo(
    source,
    value,
    target,
    molecularWeight === undefined ? {} : { molecularWeight },
  )
  if (status !== 'succeeded' || toVal === null) throw new Error(`${source} to ${target}: ${msg.join(' ')}`)
  return toVal
}
