// The whole program with the files of lab reports in an object store, then on disk: servers and workers are processes of their own.
import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { caller, demoIn, folder, serving, stopAll, waitUntil } from '../support/program.ts'
import { s3Server } from '../support/s3-server.ts'
import { glucoseReport } from '../support/uploaded-reports.ts'

const dataDir = folder('data')
after(stopAll)

async function formOf(user_id: string): Promise<{ bytes: Buffer; type: string }> {
  const form = new FormData()
  form.append('file', new Blob([new Uint8Array(await glucoseReport())], { type: 'application/pdf' }), 'report.pdf')
  form.append('user_id', user_id)
  form.append('needs_human_review', 'true')
  const request = new Response(form)
  return { bytes: Buffer.from(await request.arrayBuffer()), type: request.headers.get('content-type')! }
}

test('a report is uploaded, parsed, looked at and deleted with its files in an object store, which stay there when new ones go to disk', async () => {
  const peer = await s3Server()
  const settings = {
    CELLS: 'sandbox-us',
    S3_ENDPOINT: peer.url,
    S3_REGION: peer.region,
    S3_BUCKET: peer.bucket,
    S3_PREFIX: 'drawbridge/',
    S3_ACCESS_KEY_ID: peer.access_key_id,
    S3_SECRET_ACCESS_KEY: peer.secret_access_key,
  }
  let server = await serving(dataDir, { ...settings, REPORT_STORAGE: 's3' })
  const key = demoIn(dataDir).api_keys['sandbox-us']!
  const client = () => {
    const api = caller(server.url, key)
    const headers = { 'x-service-api-key': key }
    const picture = async (id: string) => {
      const response = await fetch(`${server.url}/lab_report/v1/review/${id}/page/1`, { headers })
      return { status: response.status, bytes: Buffer.from(await response.arrayBuffer()) }
    }
    const upload = async (user_id: string): Promise<string> => {
      const { bytes, type } = await formOf(user_id)
      const body = new Uint8Array(bytes)
      const response = await fetch(`${server.url}/lab_report/v1/parser/job`, {
        method: 'POST',
        headers: { ...headers, 'content-type': type },
        body,
      })
      const text = await response.text()
      assert.equal(response.status, 200, text)
      return (JSON.parse(text) as { id: string }).id
    }
    const reviewed = (id: string) =>
      waitUntil(async () => (await api.get(`/lab_report/v1/parser/job/${id}`)).body.status === 'pending_review')
    return { api, picture, upload, reviewed }
  }
  const first = client()
  const user_id = (await first.api.post('/v2/user', { client_user_id: 'stored' })).body.user_id as string
  const id = await first.upload(user_id)
  await first.reviewed(id)
  assert.deepEqual([...peer.objects.keys()].toSorted(), [`drawbridge/${id}/file-0`, `drawbridge/${id}/page-1`])
  const seen = [await first.picture(id), await first.picture(id)]
  assert.deepEqual([seen[0]!.status, seen[0]!.bytes.toString('latin1', 1, 4), seen[1]], [200, 'PNG', seen[0]])
  const put = peer.requests.filter((request) => request.startsWith('PUT'))
  assert.deepEqual(
    put,
    [`file-0`, `page-1`].map((name) => `PUT /${peer.bucket}/drawbridge/${id}/${name} 200`),
  )
  await server.end('SIGTERM')

  server = await serving(dataDir, settings)
  const second = client()
  assert.deepEqual(await second.picture(id), seen[0])
  const other = await second.upload(user_id)
  await second.reviewed(other)
  assert.deepEqual(readdirSync(join(dataDir, 'report-files', other)).toSorted(), ['file-0', 'page-1'])
  assert.equal(peer.objects.size, 2)
  await server.end('SIGTERM')

  // Retention of no days: files go as soon as the review has ended.
  server = await serving(dataDir, { ...settings, REPORT_FILES_DAYS: '0' })
  const third = client()
  for (const job of [id, other]) {
    const { status } = await third.api.post(`/lab_report/v1/review/${job}/approve`, { version: 0 })
    assert.equal(status, 200)
  }
  await waitUntil(async () => peer.objects.size === 0 && readdirSync(join(dataDir, 'report-files')).length === 0)
  assert.equal((await third.picture(id)).status, 404)
  assert.equal((await third.api.get(`/lab_report/v1/parser/job/${id}`)).body.data.results[0].value, '105')
  await server.end('SIGTERM')
})
