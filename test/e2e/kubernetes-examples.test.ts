// The examples of deploy/kubernetes: they follow their schemas, name what exists, and kubectl renders them together with the overlay.
// test/e2e/restore.test.ts runs the commands of the backup.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { cpSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { after, describe, test } from 'node:test'
import { parse, stringify } from 'yaml'
import { generateVaultKey } from '../../src/platform/crypto/vault.ts'
import { readConfig } from '../../src/settings/config.ts'
import { image } from '../support/container-image.ts'
import { checkManifest, parseManifests, readManifests, readSettings, type Manifest } from '../support/manifests.ts'
import { connectionsOfProcess } from '../support/process-connections.ts'
import { folder, root, stopAll } from '../support/program.ts'

after(stopAll)

const base = join(root, 'deploy/kubernetes')
const examples = join(base, 'examples')
const OVERLAY = 'overlay.yaml'
const files = globSync('**/*.yaml', { cwd: examples }).filter((path) => ![OVERLAY, 'kustomization.yaml'].includes(basename(path)))
const manifests = files.flatMap((path) => readManifests(join(examples, path)))
const ofKind = (kind: string, candidates = manifests): Manifest[] => candidates.filter((manifest) => manifest.kind === kind)
const baseManifests = ['serve.yaml', 'work.yaml', 'network-policies.yaml'].flatMap((name) => readManifests(join(base, name)))
const deployments = ofKind('Deployment', baseManifests)
const podSpecs = (candidates: Manifest[]) =>
  candidates.flatMap(({ kind, spec }) =>
    kind === 'CronJob' ? [spec.jobTemplate.spec.template.spec] : ['Deployment', 'Job'].includes(kind) ? [spec.template.spec] : [],
  )

describe('the Kubernetes examples', () => {
  for (const manifest of manifests)
    test(`${manifest.kind} ${manifest.metadata.name} follows its schema, whose fields are known`, async () => {
      await checkManifest(manifest)
      await assert.rejects(checkManifest({ ...manifest, spek: {} } as never))
      const wrong = { ...manifest, spec: { ...manifest.spec, replicass: 2 } }
      await assert.rejects(checkManifest(wrong as never), /fields that its schema does not check/)
    })

  test('choose services, pods and ports that exist', () => {
    const components = deployments.map(({ spec }) => spec.template.metadata.labels['app.kubernetes.io/component'])
    const [monitor] = ofKind('ServiceMonitor')
    const services = ofKind('Service')
    assert.deepEqual(
      services.map(({ spec }) => spec.selector['app.kubernetes.io/component']),
      components,
    )
    for (const { metadata, spec } of services) {
      assert.deepEqual(metadata.labels, monitor!.spec.selector.matchLabels)
      assert.deepEqual(
        [spec.ports[0].name, `${spec.ports[0].port}`],
        [monitor!.spec.endpoints[0].port, image.environment.OPERATOR_PORT],
      )
    }
    const [{ backend }] = ofKind('Ingress')[0]!.spec.rules[0].http.paths
    const service = ofKind('Service', baseManifests).find(({ metadata }) => metadata.name === backend.service.name)!
    assert.equal(service.spec.ports[0].name, backend.service.port.name)
    const { scaleTargetRef } = ofKind('HorizontalPodAutoscaler')[0]!.spec
    const target = deployments.find(({ metadata }) => metadata.name === scaleTargetRef.name)!
    assert.deepEqual([target.apiVersion, target.kind], [scaleTargetRef.apiVersion, scaleTargetRef.kind])
    assert(target.spec.template.spec.containers[0].resources.requests.cpu)
  })

  test('run jobs without rights, without root and on read-only files', () => {
    const pods = podSpecs(manifests)
    assert.equal(pods.length, 2)
    for (const { securityContext, automountServiceAccountToken, containers } of pods) {
      assert.equal(automountServiceAccountToken, false)
      assert.equal(securityContext.runAsNonRoot, true)
      assert.deepEqual(containers[0].securityContext, {
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      })
    }
  })

  test('open no more connections than their database accepts', () => {
    const secret = { DATABASE_URL: 'postgres://drawbridge@database/drawbridge', ENCRYPTION_KEYS: generateVaultKey() }
    const config = readConfig({ ...image.environment, ...readSettings(join(base, 'settings.env')), ...secret })
    const { maxReplicas } = ofKind('HorizontalPodAutoscaler')[0]!.spec
    const work = deployments.find(({ metadata }) => metadata.name === 'drawbridge-work')!
    const { instances, postgresql } = ofKind('Cluster')[0]!.spec
    const used = (maxReplicas + work.spec.replicas) * connectionsOfProcess(config)
    // Those of superusers, a migration and a job.
    assert(used + 3 + 2 * (config.cells.length + 1) <= Number(postgresql.parameters.max_connections) - 10)
    assert.deepEqual([instances, postgresql.synchronous.number], [3, 1])
  })

  test('are rendered together with the overlay', (t) => {
    if (spawnSync('kubectl', ['version', '--client']).error) return t.skip('kubectl is not installed')
    const text = readFileSync(join(examples, OVERLAY), 'utf8')
    const overlay = parse(text)
    const at = folder('overlay')
    mkdirSync(at)
    cpSync(base, join(at, 'drawbridge/deploy/kubernetes'), { recursive: true })
    // What its comments offer.
    const offered = [...text.matchAll(/^ *# +- (\S+)$/gm)].map(([, path]) => path!)
    const all = {
      ...overlay,
      resources: [...overlay.resources, ...offered.filter((path) => path.endsWith('.yaml'))],
      components: offered.filter((path) => !path.endsWith('.yaml')),
    }
    assert.deepEqual([all.resources.length, all.components.length], [5, 1])
    writeFileSync(join(at, 'kustomization.yaml'), stringify(all))
    const { stdout, stderr, status } = spawnSync('kubectl', ['kustomize', at], { encoding: 'utf8' })
    rmSync(at, { recursive: true })
    assert.equal(status, 0, stderr)
    checkOutput(parseManifests(stdout), overlay)
  })
})

function checkOutput(output: Manifest[], overlay: { namespace: string; images: { newName: string; newTag: string }[] }): void {
  const [configMap] = ofKind('ConfigMap', output)
  const pods = podSpecs(output)
  assert.equal(pods.length, 5)
  for (const { containers } of pods) {
    const [{ image: of, envFrom }] = containers
    if (of === 'postgres:18') continue
    assert.equal(of, `${overlay.images[0]!.newName}:${overlay.images[0]!.newTag}`)
    assert.equal(envFrom[0].configMapRef.name, configMap!.metadata.name)
  }
  for (const { kind, metadata } of output)
    assert.equal(kind === 'Namespace' ? metadata.name : metadata.namespace, overlay.namespace, kind)
  const replicas = ofKind('Deployment', output).map(({ metadata, spec }) => [metadata.name, spec.replicas])
  assert.deepEqual(Object.fromEntries(replicas), { 'drawbridge-serve': undefined, 'drawbridge-work': 2 })
}
