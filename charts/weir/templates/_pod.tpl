{{/* The pod template of a program. Takes (root, program). */}}
{{- define "weir.pod" -}}
{{- $root := index . 0 -}}
{{- $program := index . 1 -}}
{{- $values := index $root.Values $program -}}
{{- $pod := merge (deepCopy $values.pod) $root.Values.pods -}}
{{- $mounts := include "weir.mounts" . | fromYamlArray -}}
{{- $hostsWorker := eq $program (include "weir.hostOf" (list $root "worker")) -}}
{{- $plugins := $root.Values.worker.plugins -}}
{{- $packages := ternary $plugins.npm.packages list $hostsWorker -}}
{{- $artifacts := ternary $plugins.maven.artifacts list $hostsWorker -}}
{{- $probe := dict "port" $program "scheme" (include "weir.scheme" . | upper) -}}
metadata:
  labels:
    {{- merge (include "weir.selector" . | fromYaml) $pod.labels $root.Values.commonLabels | toYaml | nindent 4 }}
  annotations:
    checksum/config: {{ include "weir.config" . | sha256sum }}
    {{- with $pod.annotations }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
spec:
  serviceAccountName: {{ include "weir.fullname" $root }}-{{ $program }}
  automountServiceAccountToken: {{ or (eq $program "operator") (and (eq $program "worker") (gt (len $root.Values.worker.secretNamespaces) 0)) (ne "" (include "weir.kafkaReference" .)) }}
  enableServiceLinks: false
  terminationGracePeriodSeconds: 30
  securityContext:
    {{- include "weir.podSecurity" . | nindent 4 }}
  {{- with include "weir.pullSecrets" $root }}
  {{- . | nindent 2 }}
  {{- end }}
  {{- if or $packages $artifacts }}
  initContainers:
    {{- with $packages }}
    - name: plugins
      image: {{ $plugins.npm.image | quote }}
      command: [npm, install, --prefix=/plugins, --no-save, --no-audit, --no-fund, --ignore-scripts, --omit=dev, --]
      args:
        {{- toYaml . | nindent 8 }}
      env:
        - { name: HOME, value: /tmp }
        {{- if $plugins.npm.npmrcSecretName }}
        - { name: NPM_CONFIG_USERCONFIG, value: /etc/npm/.npmrc }
        {{- end }}
      securityContext:
        {{- include "weir.containerSecurity" . | nindent 8 }}
      volumeMounts:
        - { name: tmp, mountPath: /tmp }
        - { name: plugins, mountPath: /plugins }
        {{- if $plugins.npm.npmrcSecretName }}
        - { name: npmrc, mountPath: /etc/npm, readOnly: true }
        {{- end }}
    {{- end }}
    {{- with $artifacts }}
    - name: java-plugins
      image: {{ include "weir.programImage" $ | quote }}
      imagePullPolicy: {{ $root.Values.image.pullPolicy }}
      args:
        {{- concat (list "plugins" "install" "--plugin-path=/plugins" "--") . | toYaml | nindent 8 }}
      {{- if $plugins.maven.repositorySecretName }}
      env:
        - name: MAVEN_REPOSITORY
          valueFrom: { secretKeyRef: { name: {{ $plugins.maven.repositorySecretName | quote }}, key: url } }
      {{- else if $plugins.maven.repository }}
      env:
        - { name: MAVEN_REPOSITORY, value: {{ $plugins.maven.repository | quote }} }
      {{- end }}
      securityContext:
        {{- include "weir.containerSecurity" . | nindent 8 }}
      volumeMounts:
        - { name: tmp, mountPath: /tmp }
        - { name: java-plugins, mountPath: /plugins }
    {{- end }}
  {{- end }}
  containers:
    - name: {{ $program }}
      image: {{ include "weir.programImage" . | quote }}
      imagePullPolicy: {{ $root.Values.image.pullPolicy }}
      args:
        {{- include "weir.args" . | nindent 8 }}
      env:
        {{- include "weir.env" . | nindent 8 }}
      ports:
        - { name: {{ $program }}, containerPort: {{ include "weir.port" $program }} }
        {{- if eq $program "operator" }}
        {{- if $root.Values.webhook.enabled }}
        - { name: webhook, containerPort: 9443 }
        {{- end }}
        {{- if $root.Values.console.enabled }}
        - { name: console, containerPort: 8082 }
        {{- end }}
        {{- if eq $root.Values.runtimes "Embedded" }}
        - { name: registry, containerPort: 8081 }
        - { name: worker, containerPort: 8083 }
        {{- end }}
        {{- end }}
      # A start reads whole topics, which may take minutes.
      startupProbe:
        httpGet: { path: /healthz, {{ include "weir.flow" $probe }} }
        periodSeconds: 2
        failureThreshold: 150
      livenessProbe:
        httpGet: { path: /healthz, {{ include "weir.flow" $probe }} }
        periodSeconds: 10
        timeoutSeconds: 5
        failureThreshold: 6
      readinessProbe:
        httpGet: { path: /readyz, {{ include "weir.flow" $probe }} }
        periodSeconds: 5
        timeoutSeconds: 5
      {{- if or (ne $program "operator") (eq $root.Values.runtimes "Embedded") }}
      # Waits until the Service sends no new requests to this pod.
      lifecycle:
        preStop:
          sleep: { seconds: 3 }
      {{- end }}
      resources:
        {{- include "weir.resources" . | nindent 8 }}
      securityContext:
        {{- include "weir.containerSecurity" . | nindent 8 }}
      volumeMounts:
        {{- range $mounts }}
        - { name: {{ .name }}, mountPath: {{ .path }}, readOnly: {{ not (has .name (list "tmp" "data")) }} }
        {{- end }}
        {{- with $values.volumeMounts }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
  volumes:
    {{- range $mounts }}
    - {{ set .volume "name" .name | toJson }}
    {{- end }}
    {{- if and $packages $plugins.npm.npmrcSecretName }}
    - { name: npmrc, secret: { secretName: {{ $plugins.npm.npmrcSecretName | quote }} } }
    {{- end }}
    {{- with $values.volumes }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  {{- range $field := list "nodeSelector" "tolerations" "affinity" "priorityClassName" }}
  {{- with index $pod $field }}
  {{ $field }}: {{ toJson . }}
  {{- end }}
  {{- end }}
  topologySpreadConstraints:
    {{- with $pod.topologySpreadConstraints }}
    {{- toYaml . | nindent 4 }}
    {{- else }}
    {{- range list "topology.kubernetes.io/zone" "kubernetes.io/hostname" }}
    - maxSkew: 1
      topologyKey: {{ . }}
      whenUnsatisfiable: ScheduleAnyway
      labelSelector:
        matchLabels:
          {{- include "weir.selector" (list $root $program) | nindent 10 }}
    {{- end }}
    {{- end }}
{{- end -}}

{{/* A map in YAML flow style, without the braces. */}}
{{- define "weir.flow" -}}
{{- $pairs := list -}}
{{- range $key, $value := . -}}{{- $pairs = append $pairs (printf "%s: %s" $key $value) -}}{{- end -}}
{{- join ", " $pairs -}}
{{- end -}}

{{- define "weir.podSecurity" -}}
runAsNonRoot: true
runAsUser: 65532
runAsGroup: 65532
fsGroup: 65532
seccompProfile: { type: RuntimeDefault }
{{- end -}}

{{- define "weir.pullSecrets" -}}
{{- with .Values.image.pullSecrets -}}
imagePullSecrets:
{{- range . }}
  - name: {{ . | quote }}
{{- end }}
{{- end }}
{{- end -}}
