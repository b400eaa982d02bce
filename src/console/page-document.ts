import { createHash } from 'node:crypto'
import type { PageAssets } from './assets.ts'

/** The HTML document of the console, and the policy of what it may load: its own files, and nothing inline or remote. */
export type PageDocument = { readonly html: string; readonly contentSecurityPolicy: string }

/** URLs are relative, so that a proxy may serve the page below another path. */
export function createPageDocument({ main, libraries }: Pick<PageAssets, 'main' | 'libraries'>): PageDocument {
  const imports = Object.fromEntries(Object.entries(libraries).map(([name, path]) => [name, `./ui/assets/${path}`]))
  const importMap = JSON.stringify({ imports })
  const hash = createHash('sha256').update(importMap).digest('base64')
  const html = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Weir</title>
<link rel="icon" href="ui/assets/icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="ui/assets/style.css">
<script type="importmap">${importMap}</script>
<script type="module" src="ui/assets/${main}"></script>
</head>
<body><div id="app"></div><noscript>The console needs JavaScript.</noscript></body>
</html>
`
  const contentSecurityPolicy = [
    "default-src 'none'",
    `script-src 'self' 'sha256-${hash}'`,
    "style-src 'self'",
    "img-src 'self'",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ')
  return { html, contentSecurityPolicy }
}
