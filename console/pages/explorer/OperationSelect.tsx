import { Group, Select, Text, type ComboboxItem, type OptionsFilter } from '@mantine/core'
import { useMemo } from 'react'
import type { ApiOperation } from './operations.ts'
import { useRefusals } from './allowed-runs.ts'
import classes from './OperationSelect.module.css'

interface OperationSelectProps {
  operations: readonly ApiOperation[]
  value: string | undefined
  onChange: (id: string) => void
}

const SHOWN_MAX = 60

/** Finds an operation by its id, its path or a word of its summary. */
export function OperationSelect({ operations, value, onChange }: OperationSelectProps) {
  const refusalOf = useRefusals()
  const byId = useMemo(() => new Map(operations.map((operation) => [operation.id, operation])), [operations])
  const options = useMemo(() => operations.map(({ id, summary }) => ({ value: id, label: `${id} · ${summary}` })), [operations])
  const filter: OptionsFilter = ({ options: all, search, limit }) => {
    const words = search.toLowerCase().split(/\s+/).filter(Boolean)
    return (all as ComboboxItem[])
      .filter(({ value: id, label }) => {
        const { method, path, tag } = byId.get(id)!
        const text = `${label} ${method} ${path} ${tag}`.toLowerCase()
        return words.every((word) => text.includes(word))
      })
      .toSorted((a, b) => rankOperation(a.value, words) - rankOperation(b.value, words))
      .slice(0, limit)
  }
  return (
    <Select
      label="Operation"
      placeholder="An id, a path or a word, for example create order"
      data={options}
      value={value ?? null}
      onChange={(id) => id && onChange(id)}
      searchable
      allowDeselect={false}
      limit={SHOWN_MAX}
      filter={filter}
      nothingFoundMessage="No operation has these words"
      maxDropdownHeight={420}
      renderOption={({ option }) => {
        const operation = byId.get(option.value)
        return operation && <OperationOption operation={operation} refusal={refusalOf(operation)} />
      }}
    />
  )
}

/** Operations with this id come first, then those whose id begins so. */
function rankOperation(id: string, words: readonly string[]): number {
  const start = words.join('_')
  if (id === start) return 0
  return id.startsWith(start) ? 1 : 2
}

const OperationOption = ({ operation, refusal }: { operation: ApiOperation; refusal: string | undefined }) => (
  <div className={classes.option}>
    <Group gap="sm" wrap="nowrap">
      <Text span size="sm" fw={600} className={classes.text}>
        {operation.id}
      </Text>
      <Text span size="xs" c="dimmed" className={classes.text}>
        {operation.method} {operation.path}
      </Text>
    </Group>
    <Text size="xs">{operation.summary}</Text>
    {refusal !== undefined && (
      <Text size="xs" c="dimmed">
        Not run here: {refusal}
      </Text>
    )}
  </div>
)
