// Kubernetes manifests of deploy/kubernetes, and whether they follow the schemas of their kinds: those of kubernetes-models, and for kinds of
// operators those in test/support/crds.
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Ajv2019 } from 'ajv/dist/2019.js'
import { parseAllDocuments } from 'yaml'
import { root } from './program.ts'

export interface Manifest {
  apiVersion: string
  kind: string
  metadata: { name: string; namespace?: string; labels?: Record<string, string> }
  // oxlint-disable-next-line typescript/no-explicit-any -- each kind has a form of its own, which its schema checks
  spec?: any
}

export const parseManifests = (text: string): Manifest[] =>
  parseAllDocuments(text).map((document) => {
    assert.deepEqual(document.errors, [])
    return document.toJS() as Manifest
  })

export const readManifests = (path: string): Manifest[] => parseManifests(readFileSync(path, 'utf8'))

/** The settings in an env file. */
export const readSettings = (path: string): Record<string, string> =>
  Object.fromEntries(
    readFileSync(path, 'utf8')
      .trim()
      .split('\n')
      .filter((line) => !line.startsWith('#'))
      .map((line) => line.split('=', 2) as [string, string]),
  )

/** @throws Error where the manifest does not follow its schema, or has a field that the schema does not name */
export async function checkManifest(manifest: Manifest): Promise<void> {
  const validate = customValidators().get(`${manifest.apiVersion} ${manifest.kind}`) ?? (await validatorOf(manifest))
  validate(manifest)
  const unknown = listPaths(manifest).filter((path) => isValid(validate, withWrongType(manifest, path)))
  assert.deepEqual(unknown, [], `${manifest.kind} ${manifest.metadata.name} has fields that its schema does not check`)
}

type Validate = (manifest: unknown) => void
type Path = (string | number)[]

async function validatorOf({ apiVersion, kind }: Manifest): Promise<Validate> {
  const models = (await import(`kubernetes-models/${apiVersion}`)) as Record<string, new (data: unknown) => { validate(): void }>
  return (manifest) => new models[kind]!(manifest).validate()
}

/** Of kinds that operators define. */
function customValidators(): Map<string, Validate> {
  const text = { type: 'string' }
  const metadata = {
    type: 'object',
    properties: { name: text, namespace: text, labels: { type: 'object', additionalProperties: text } },
  }
  const folder = join(root, 'test/support/crds')
  return new Map(
    globSync('*.json', { cwd: folder }).map((name) => {
      const { apiVersion, kind, schema } = JSON.parse(readFileSync(join(folder, name), 'utf8')) as {
        apiVersion: string
        kind: string
        schema: { properties: object }
      }
      const ajv = new Ajv2019({ strict: false, allErrors: true })
      const follows = ajv.compile({
        ...schema,
        properties: { ...schema.properties, metadata, apiVersion: { const: apiVersion }, kind: { const: kind } },
      })
      return [`${apiVersion} ${kind}`, (manifest) => assert(follows(manifest), JSON.stringify(follows.errors))]
    }),
  )
}

function isValid(validate: Validate, manifest: unknown): boolean {
  try {
    validate(manifest)
    return true
  } catch {
    return false
  }
}

/** The paths of all fields and items. */
const listPaths = (value: unknown, path: Path = []): Path[] =>
  value === null || typeof value !== 'object'
    ? []
    : Object.entries(value).flatMap(([name, child]) => {
        const below = [...path, Array.isArray(value) ? Number(name) : name]
        return [below, ...listPaths(child, below)]
      })

/** A copy whose value at the path has a type that no field with this value has: schemas that ignore unknown fields accept it. */
function withWrongType(manifest: Manifest, path: Path): unknown {
  const copy = structuredClone(manifest)
  // oxlint-disable-next-line typescript/no-explicit-any -- the path is one of the manifest
  const parent = path.slice(0, -1).reduce<any>((value, name) => value[name], copy)
  const last = path.at(-1)!
  parent[last] = typeof parent[last] === 'boolean' ? 'text' : true
  return copy
}
