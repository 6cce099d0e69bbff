import { TagsInput } from '@mantine/core'
import { useState } from 'react'
import { filterText, parseFilter, type Filter, type FilterField } from './filters.ts'

interface FilterBarProps {
  fields: readonly FilterField[]
  filters: readonly Filter[]
  onChange: (filters: Filter[]) => void
}

/**
 * Filters as chips, and as text: `status:at_lab` becomes a chip with Enter or a space, Backspace removes the last one. Several can be
 * pasted at once.
 */
export function FilterBar({ fields, filters, onChange }: FilterBarProps) {
  const [text, setText] = useState('')
  const [error, setError] = useState<string>()
  const chips = filters.map(filterText)
  const change = (texts: string[]): void => {
    const parsed = texts.map((entry) => parseFilter(entry, fields))
    const mistake = parsed.find((entry) => typeof entry === 'string')
    setError(mistake)
    if (mistake === undefined) onChange(parsed.filter((entry) => typeof entry !== 'string'))
  }
  return (
    <TagsInput
      aria-label="Filter"
      placeholder={filters.length ? 'Add a filter' : `Filter: ${exampleOf(fields)}`}
      value={chips}
      onChange={change}
      searchValue={text}
      onSearchChange={(next) => {
        setText(next)
        setError(undefined)
      }}
      error={error}
      data={suggestionsFor(fields, text).filter((suggestion) => !chips.includes(suggestion))}
      splitChars={[' ', ',']}
      acceptValueOnBlur={false}
      clearable
    />
  )
}

/** Names of fields first; after a colon the values of the field. */
function suggestionsFor(fields: readonly FilterField[], text: string): string[] {
  const [name] = text.split(':', 1)
  const field = text.includes(':') ? fields.find((candidate) => candidate.name === name) : undefined
  return (field ? [field] : fields).flatMap((candidate) => (candidate.values ?? []).map((value) => `${candidate.name}:${value}`))
}

const exampleOf = (fields: readonly FilterField[]): string =>
  fields
    .slice(0, 2)
    .map(({ name, example, values }) => `${name}:${example ?? values?.[0] ?? ''}`)
    .join(' ')
