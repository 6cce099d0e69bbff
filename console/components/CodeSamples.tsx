import { Button, Popover, Stack, Tabs } from '@mantine/core'
import { useLaunch } from '../session/session.ts'
import { useTeam } from '../session/team.ts'
import { basePath } from '../page-context.ts'
import { CopyableCode } from './CopyableCode.tsx'

/** A request that has the same answer as a page. */
export interface SampleRequest {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** With the ids of the page in it. */
  path: string
  query?: Record<string, string | number | boolean | undefined>
  body?: unknown
}

/** Shows a request of this page for a terminal and for a program, with a placeholder for the key. Not in the page of another program. */
export function CodeSamples({ request }: { request: SampleRequest }) {
  const { cell } = useTeam()
  const isEmbedded = useLaunch()?.modality === 'feature_embed'
  const url = urlOf(request)
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
              <Tabs.Tab value="javascript">JavaScript</Tabs.Tab>
              <Tabs.Tab value="python">Python</Tabs.Tab>
            </Tabs.List>
            <Tabs.Panel value="curl">
              <CopyableCode text={curlOf(request, url)} label="the command" />
            </Tabs.Panel>
            <Tabs.Panel value="javascript">
              <CopyableCode text={javascriptOf(request, url)} label="the code" />
            </Tabs.Panel>
            <Tabs.Panel value="python">
              <CopyableCode text={pythonOf(request, url)} label="the code" />
            </Tabs.Panel>
          </Tabs>
          KEY is a team key of {cell}.
        </Stack>
      </Popover.Dropdown>
    </Popover>
  )
}

function urlOf({ path, query = {} }: SampleRequest): string {
  const url = new URL(`${location.origin}${basePath}${path}`)
  for (const [name, value] of Object.entries(query)) if (value !== undefined) url.searchParams.set(name, String(value))
  return url.href
}

/** Quotes a text for a POSIX shell. */
const shellText = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`

function curlOf({ method, body }: SampleRequest, url: string): string {
  const lines = [`curl -s${method === 'GET' ? '' : ` -X ${method}`} -H "x-service-api-key: $KEY"`]
  if (body !== undefined) lines.push(`  -H 'content-type: application/json' -d ${shellText(JSON.stringify(body))}`)
  return [...lines, `  ${shellText(url)}`].join(' \\\n')
}

function javascriptOf({ method, body }: SampleRequest, url: string): string {
  const options = [
    ...(method === 'GET' ? [] : [`  method: '${method}',`]),
    `  headers: { 'x-service-api-key': process.env.KEY${body === undefined ? '' : ", 'content-type': 'application/json'"} },`,
    ...(body === undefined ? [] : [`  body: JSON.stringify(${JSON.stringify(body)}),`]),
  ]
  return `const response = await fetch(${JSON.stringify(url)}, {\n${options.join('\n')}\n})\nconsole.log(await response.json())`
}

function pythonOf({ method, body }: SampleRequest, url: string): string {
  const json = body === undefined ? '' : `\n    json=json.loads(${JSON.stringify(JSON.stringify(body))}),`
  return `import json, os, requests

response = requests.request(
    "${method}",
    ${JSON.stringify(url)},
    headers={"x-service-api-key": os.environ["KEY"]},${json}
)
print(json.dumps(response.json(), indent=2))`
}
