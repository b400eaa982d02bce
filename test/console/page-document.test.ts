import { createHash } from 'node:crypto'
import { expect, it } from 'vitest'
import { createPageDocument } from '../../src/console/page-document.ts'

const document = createPageDocument({ main: 'main.ts', libraries: { preact: 'libraries/preact.js' } })

it('The page loads its own files only, by relative URLs', () => {
  const urls = [...document.html.matchAll(/(?:src|href)="([^"]*)"/g)].map(([, url]) => url)
  expect(urls).toEqual(['ui/assets/icon.svg', 'ui/assets/style.css', 'ui/assets/main.ts'])
  expect(document.html).not.toMatch(/https?:|<style| style=| on\w+=/)
})

it('The content security policy permits the inline import map and no other inline code', () => {
  const [, importMap = ''] = /<script type="importmap">([^<]*)</.exec(document.html) ?? []
  expect(JSON.parse(importMap)).toEqual({ imports: { preact: './ui/assets/libraries/preact.js' } })
  const hash = createHash('sha256').update(importMap).digest('base64')
  const policy = new Map(
    document.contentSecurityPolicy.split('; ').map((directive) => directive.split(/ (.*)/s, 2) as [string, string]),
  )
  expect(Object.fromEntries(policy)).toEqual({
    'default-src': "'none'",
    'script-src': `'self' 'sha256-${hash}'`,
    'style-src': "'self'",
    'img-src': "'self'",
    'connect-src': "'self'",
    'base-uri': "'none'",
    'form-action': "'none'",
    'frame-ancestors': "'none'",
  })
})
