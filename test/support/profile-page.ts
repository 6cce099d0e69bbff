// docs/reference/lab-profile.md: every option of the profile of a link, from its schema.
import { LinkProfile } from '../../src/lab/links/profile/link-profile.ts'
import { presetNames, presets } from '../../src/lab/links/profile/presets.ts'
import { listDifferences } from '../../src/lab/links/profile/differences.ts'

interface Shape {
  type?: string
  enum?: string[]
  default?: unknown
  description?: string
  minimum?: number
  maximum?: number
  maxLength?: number
  maxItems?: number
  format?: string
  isSecret?: boolean
  items?: Shape
  properties?: Record<string, Shape>
  patternProperties?: Record<string, Shape>
}

const INTRODUCTION = `# Profile of a link

Generated from the schema. The profile of a link says how messages to and from a laboratory are transported and written, and what they mean where they leave it open. \`drawbridge links set ACCOUNT OPTION=VALUE\` sets options, \`links show\` prints those that differ from the preset, \`links export\` and \`links import\` write and read them as a file in JSON.

An option has the value of the preset, or else its default. One without a default is required, unless it is optional. Lists and maps replace those of the preset as a whole. Secrets are stored encrypted and never printed.
`

/** The page in Markdown. */
export function profilePage(): string {
  const groups = Object.entries(LinkProfile.properties as Record<string, Shape>)
  const sections = groups.map(
    ([name, group]) => `## ${name}\n\n${group.description}\n\n${describeGroup(group, name).join('\n')}\n`,
  )
  return [INTRODUCTION, ...sections, describePresets()].join('\n')
}

function describeGroup(group: Shape, path: string): string[] {
  const requiredNames = (group as { required?: string[] }).required ?? []
  return Object.entries(group.properties!).flatMap(([name, option]) => {
    const at = `${path}.${name}`
    if (option.properties) return describeGroup(option, at)
    const isOptional = !requiredNames.includes(name)
    return [`- \`${at}\` (${describeValue(option, isOptional)}): ${option.description}`]
  })
}

function describeValue(option: Shape, isOptional: boolean): string {
  const standard = option.default === undefined ? (isOptional ? 'optional' : 'required') : `default ${code(option.default)}`
  return `${typeOf(option)}; ${standard}`
}

const code = (value: unknown): string =>
  value === '' ? 'empty' : `\`${typeof value === 'string' ? value : JSON.stringify(value)}\``

function typeOf({ type, enum: values, minimum, maximum, format, isSecret, items, patternProperties }: Shape): string {
  if (values) return values.map(code).join(', ')
  if (isSecret) return 'secret text'
  if (items) return items.properties ? 'list of objects' : 'list of texts'
  if (patternProperties) return 'map'
  if (type === 'integer') return `${minimum} to ${maximum}`
  if (type === 'boolean') return 'true or false'
  return format === 'iana-time-zone' ? 'time zone such as `America/New_York`' : 'text'
}

function describePresets(): string {
  const lists = presetNames.map((name) => {
    const { title, options } = presets[name]
    const rows = listDifferences(LinkProfile, {}, options)
      .filter(({ value }) => value !== null)
      .map(({ option, value }) => `- \`${option}\`: ${code(value)}`)
    return `### ${name}\n\n${title}.\n\n${rows.join('\n')}\n`
  })
  return `## Presets\n\n${lists.join('\n')}`
}
