import { Autocomplete, Select, TagsInput, TextInput } from '@mantine/core'
import type { ApiParameter } from './operations.ts'

interface ParameterFieldProps {
  parameter: ApiParameter
  values: readonly string[]
  /** Whether the page decides the value. */
  isFixed: boolean
  onChange: (values: string[]) => void
}

/** The field of a parameter, by its schema. */
export function ParameterField({ parameter, values, isFixed, onChange }: ParameterFieldProps) {
  const { name, required, description, schema, example } = parameter
  const common = { label: name, description: description ?? schema.description, required }
  const first = values[0] ?? ''
  if (isFixed) return <TextInput {...common} value={first} readOnly variant="filled" />
  if (isType(schema.type, 'array'))
    return (
      <TagsInput
        {...common}
        data={schema.items?.enum?.map(String) ?? []}
        value={values.filter(Boolean)}
        onChange={onChange}
        placeholder={values.some(Boolean) ? undefined : exampleText(example)}
        clearable
      />
    )
  const choices = isType(schema.type, 'boolean') ? ['true', 'false'] : schema.enum?.map(String)
  if (choices)
    return (
      <Select
        {...common}
        data={choices}
        value={first || null}
        onChange={(value) => onChange(value === null ? [] : [value])}
        clearable={!required}
        searchable={choices.length > 10}
        placeholder={schema.default === undefined ? undefined : `${String(schema.default)} by default`}
      />
    )
  if (example !== undefined && parameter.in === 'path' && schema.format !== 'uuid')
    return (
      <Autocomplete
        {...common}
        data={[exampleText(example)]}
        value={first}
        onChange={(value) => onChange([value])}
        autoComplete="off"
      />
    )
  return (
    <TextInput
      {...common}
      value={first}
      onChange={(event) => onChange([event.currentTarget.value])}
      placeholder={schema.default === undefined ? exampleText(example) : `${String(schema.default)} by default`}
      inputMode={isType(schema.type, 'integer') ? 'numeric' : undefined}
      autoComplete="off"
    />
  )
}

const isType = (type: string | string[] | undefined, name: string): boolean => [type].flat().includes(name)

const exampleText = (example: unknown): string =>
  example === undefined
    ? ''
    : [example]
        .flat()
        .map((value) => (typeof value === 'string' ? value : JSON.stringify(value)))
        .join(', ')
