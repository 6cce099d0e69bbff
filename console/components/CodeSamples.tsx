import { Button, Popover, Stack, Tabs } from '@mantine/core'
import { useLaunch } from '../session/session.ts'
import { useTeam } from '../session/team.ts'
import { basePath } from '../page-context.ts'
import { CopyableCode } from './CopyableCode.tsx'
import type { KeyKind } from './key-kind.ts'

/** A request that has the same answer as a page. */
export interface SampleRequest {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** With the ids of the page in it. */
  path: string
  query?: Record<string, string | number | boolean | readonly string[] | undefined>
  body?: unknown
}

interface CodeSamplesProps {
  request: SampleRequest
  /** Which kind of key the request needs. */
  keyKind?: KeyKind
  /** The same as a call of the official SDK. */
  sdkCode?: string | undefined
}

/** Shows a request of this page for a terminal and for a program, with a placeholder for the key. Not in the page of another program. */
export function CodeSamples({ request, keyKind = 'team', sdkCode }: CodeSamplesProps) {
  const { cell } = useTeam()
  const isEmbedded = useLaunch()?.modality === 'feature_embed'
  if (isEmbedded) return null
  return (
    <Popover position="bottom-end" width={520} withinPortal>
      <Popover.Target>
        <Button variant="subtle" size="compact-sm">
          As curl or code
        </Button>
      </Popover.Target>
      <Popover.Dropdown maw="calc(100vw - 32px)">
        <Stack gap="sm">
          <Tabs defaultValue="curl" keepMounted={false}>
            <Tabs.List mb="sm">
              <Tabs.Tab value="curl">curl</Tabs.Tab>
              {sdkCode !== undefined && <Tabs.Tab value="sdk">SDK</Tabs.Tab>}
              <Tabs.Tab value="javascript">JavaScript</Tabs.Tab>
              <Tabs.Tab value="python">Python</Tabs.Tab>
            </Tabs.List>
            <Tabs.Panel value="curl">
              <CopyableCode text={toCurl(request, keyKind)} label="the command" />
            </Tabs.Panel>
            {sdkCode !== undefined && (
              <Tabs.Panel value="sdk">
                <CopyableCode text={sdkCode} label="the code" />
              </Tabs.Panel>
            )}
            <Tabs.Panel value="javascript">
              <CopyableCode text={toJavascript(request, keyKind)} label="the code" />
            </Tabs.Panel>
            <Tabs.Panel value="python">
              <CopyableCode text={toPython(request, keyKind)} label="the code" />
            </Tabs.Panel>
          </Tabs>
          {keyKind === 'team' ? `KEY is a team key of ${cell}.` : 'KEY is a management key of the organization.'}
        </Stack>
      </Popover.Dropdown>
    </Popover>
  )
}

const KEY_HEADERS: Record<KeyKind, string> = { team: 'x-service-api-key', management: 'x-management-key' }

function urlOf({ path, query = {} }: SampleRequest): string {
  const url = new URL(`${location.origin}${basePath}${path}`)
  for (const [name, value] of Object.entries(query))
    for (const one of [value ?? []].flat()) url.searchParams.append(name, String(one))
  return url.href
}

/** Quotes a text for a POSIX shell. */
const shellText = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`

/** A request as a command for a terminal. */
function toCurl(request: SampleRequest, keyKind: KeyKind): string {
  const { method, body } = request
  const lines = [`curl -s${method === 'GET' ? '' : ` -X ${method}`} -H "${KEY_HEADERS[keyKind]}: $KEY"`]
  if (body !== undefined) lines.push(`  -H 'content-type: application/json' -d ${shellText(JSON.stringify(body))}`)
  return [...lines, `  ${shellText(urlOf(request))}`].join(' \\\n')
}

function toJavascript(request: SampleRequest, keyKind: KeyKind): string {
  const { method, body } = request
  const options = [
    ...(method === 'GET' ? [] : [`  method: '${method}',`]),
    `  headers: { '${KEY_HEADERS[keyKind]}': process.env.KEY${body === undefined ? '' : ", 'content-type': 'application/json'"} },`,
    ...(body === undefined ? [] : [`  body: JSON.stringify(${JSON.stringify(body)}),`]),
  ]
  return `const response = await fetch(${JSON.stringify(urlOf(request))}, {\n${options.join('\n')}\n})\nconsole.log(await response.json())`
}

function toPython(request: SampleRequest, keyKind: KeyKind): string {
  const { method, body } = request
  const json = body === undefined ? '' : `\n    json=json.loads(${JSON.stringify(JSON.stringify(body))}),`
  return `import json, os, requests

response = requests.request(
    "${method}",
    ${JSON.stringify(urlOf(request))},
    headers={"${KEY_HEADERS[keyKind]}": os.environ["KEY"]},${json}
)
print(json.dumps(response.json(), indent=2))`
}
