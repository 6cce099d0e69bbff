// Filters of a list: a name and a value each. They are in the address of the page, so they hold ids, states and dates, and never data of
// patients.
import { useMemo } from 'react'
import { useSearchParams } from 'react-router'

export interface FilterField {
  /** As in the API, for example `status`. */
  name: string
  /** The values that it can have; undefined: any. */
  values?: readonly string[]
  example?: string
  /** Says why a value cannot be; undefined if it can. */
  check?: (value: string) => string | undefined
}

export interface Filter {
  name: string
  value: string
}

export const filterText = ({ name, value }: Filter): string => `${name}:${value}`

/** A filter from its text; a text that says what is wrong with it. */
export function parseFilter(text: string, fields: readonly FilterField[]): Filter | string {
  const [, name, value] = /^\s*([a-z_]+):(\S.*?)\s*$/.exec(text) ?? []
  const names = fields.map((field) => field.name).join(', ')
  if (name === undefined || value === undefined) return `A filter is name:value. Names: ${names}`
  const field = fields.find((candidate) => candidate.name === name)
  if (!field) return `There is no filter ${name}. Names: ${names}`
  if (field.values && !field.values.includes(value)) return `${name} is one of ${field.values.join(', ')}`
  return field.check?.(value) ?? { name, value }
}

/** The filters in the address of the page. Others than those of the fields are left alone. */
export function useFilters(
  fields: readonly FilterField[],
): readonly [filters: Filter[], setFilters: (filters: Filter[]) => void] {
  const [params, setParams] = useSearchParams()
  const filters = useMemo(
    () =>
      fields.flatMap((field) =>
        params
          .getAll(field.name)
          .map((value) => parseFilter(`${field.name}:${value}`, fields))
          .filter((filter) => typeof filter !== 'string'),
      ),
    [fields, params],
  )
  const setFilters = (next: Filter[]): void =>
    setParams((previous) => {
      const changed = new URLSearchParams(previous)
      for (const { name } of fields) changed.delete(name)
      for (const { name, value } of next) changed.append(name, value)
      return changed
    })
  return [filters, setFilters]
}
